"""Generators by their moments, the expected loss by numerical integration and by simulation."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from numpy.testing import assert_allclose
from scipy.integrate import quad

from bythebook.models.regression.curves import (
    expected_loss,
    inputs,
    likeness,
    noisy,
    polynomial,
    quadrature,
    sine,
)


def test_curves_are_what_their_names_say() -> None:
    x = np.array([[0.0, 0.25], [0.5, 2.0]])
    assert_allclose(sine(x), [[0, 1], [0, 0]], rtol=0, atol=1e-15)
    assert_allclose(polynomial(x, np.array([1.0, -2.0, 0.5])), 1 - 2 * x + x**2 / 2, rtol=1e-15)


def test_grid_inputs_are_equally_spaced_and_shared() -> None:
    x = inputs(5, -1, 1, "grid", 3, np.random.default_rng(0))
    assert_allclose(x, np.tile([-1, -0.5, 0, 0.5, 1], (3, 1)), rtol=0, atol=1e-15)


def test_uniform_inputs_fill_the_interval() -> None:
    x = inputs(50, 2, 6, "uniform", 400, np.random.default_rng(0))
    assert x.shape == (400, 50)
    assert np.all(np.diff(x, axis=-1) >= 0)
    assert 2 <= x.min() < 2.01
    assert 5.99 < x.max() <= 6
    standard_error = 4 / np.sqrt(12 * x.size)
    assert_allclose(x.mean(), 4, rtol=0, atol=4 * standard_error)
    assert_allclose(x.var(), 16 / 12, rtol=0.03)


def test_an_unknown_design_is_refused() -> None:
    with pytest.raises(ValueError, match="design 'sobol' is unknown; allowed: grid, uniform"):
        inputs(5, 0, 1, "sobol", 1, np.random.default_rng(0))


def test_noise_has_the_stated_deviation_and_scales_one_stream() -> None:
    h = np.zeros((200, 100))
    e = noisy(h, 0.3, np.random.default_rng(1))
    assert_allclose(e.std(), 0.3, rtol=4 / np.sqrt(2 * h.size))
    assert_allclose(e, 3 * noisy(h, 0.1, np.random.default_rng(1)), rtol=1e-12)
    assert np.all(noisy(h, 0.0, np.random.default_rng(1)) == 0)


def test_quadrature_averages_over_the_interval() -> None:
    x, weight = quadrature(-2, 5)
    assert_allclose(weight.sum(), 1, rtol=1e-14)
    for g in (lambda u: u**9, np.exp, lambda u: np.sin(2 * np.pi * u)):
        assert_allclose(g(x) @ weight, quad(g, -2, 5, limit=200)[0] / 7, rtol=1e-10, atol=1e-10)


def test_expected_loss_is_what_a_large_test_set_gives() -> None:
    rng = np.random.default_rng(2)
    fits = np.array([[0.1, -0.5], [0.9, -1.8]])  # two straight lines
    nodes = quadrature(0, 1)
    found = expected_loss(polyval(nodes.x, fits.T), sine(nodes.x), nodes.weight, 0.3)
    x = rng.uniform(0, 1, 400_000)
    errors = (noisy(sine(x), 0.3, rng) - polyval(x, fits.T)) ** 2
    standard_error = errors.std(-1) / np.sqrt(len(x))
    assert np.all(np.abs(errors.mean(-1) - found) < 4 * standard_error)
    assert np.all(standard_error < 0.002)  # so that the line above could fail


def test_likeness_is_the_correlation_of_curves() -> None:
    f, g = np.random.default_rng(8).normal(size=(2, 4, 30))
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(f, g, strict=True)]
    assert_allclose(likeness(f, g), expected, rtol=1e-9)
    assert_allclose(likeness(f, 3 - 2 * f), -1, rtol=1e-12)
    assert likeness(np.ones(5), f[0, :5]) == 0  # a flat curve has no shape
