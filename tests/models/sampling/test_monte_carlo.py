"""Expectations under a uniform density against numerical integration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from bythebook.models.sampling import monte_carlo
from bythebook.models.sampling.monte_carlo import (
    INTEGRANDS,
    evidences,
    projection,
    running_mean,
    tails,
    under_uniform,
)


@pytest.mark.parametrize("name", INTEGRANDS)
@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (-2.0, 3.5)])
def test_moments_by_quadrature(name: str, a: float, b: float) -> None:
    f, mean, square = INTEGRANDS[name]
    assert_allclose(mean(a, b), quad(f, a, b)[0] / (b - a), rtol=1e-10)
    assert_allclose(square(a, b), quad(lambda y: f(y) ** 2, a, b)[0] / (b - a), rtol=1e-10)


def test_running_means_by_a_loop() -> None:
    values = np.random.default_rng(1).normal(size=(3, 20))
    expected = [[row[: s + 1].mean() for s in range(20)] for row in values]
    assert_allclose(running_mean(values), expected, rtol=1e-12)


@pytest.mark.parametrize("name", INTEGRANDS)
def test_draws_have_the_moments_stated(name: str) -> None:
    found = under_uniform(INTEGRANDS[name], -1.0, 2.0)
    values = found.f((4, 50_000), np.random.default_rng(0))
    assert_allclose(values.mean(), found.mean, atol=4.5 * np.sqrt(found.variance / values.size))
    assert_allclose(values.var(), found.variance, rtol=0.02)


@pytest.mark.parametrize(("dimension", "correlation"), [(1, 0.0), (20, 0.0), (3, 0.8)])
def test_projections(dimension: int, correlation: float) -> None:
    what = projection(dimension, correlation)
    f = what.f((3000, 5), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [what.mean, what.variance], atol=0.25)
    # squares of Gaussian numbers with correlation r have the correlation r^2
    assert_allclose(np.corrcoef(f[:, 0], f[:, 2])[0, 1], correlation**4, atol=0.1)


def test_tails_and_a_coin_by_quadrature() -> None:
    (low, high), coin = tails().values(), evidences()["coin"]
    assert_allclose([low.mean, high.mean], [norm.cdf(1), norm.sf(3)])
    f = high.f((100, 3000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [high.mean, high.variance], rtol=0.25)
    f = low.f((100, 3000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [low.mean, low.variance], rtol=0.01)
    mean, square = (quad(lambda r, k=k: (r**7 * (1 - r) ** 3) ** k, 0, 1)[0] for k in (1, 2))
    assert_allclose([coin.mean, coin.variance], [mean, square - mean**2], rtol=1e-9)


def test_the_evidence_of_a_line_on_a_grid_of_weights() -> None:
    line, step = evidences()["line"], 0.02
    w = np.arange(-6, 6, step)
    density = norm.pdf(w)[:, None] * norm.pdf(w) * step**2
    like = np.ones_like(density)
    for x, t in zip(monte_carlo.X[:, 1], monte_carlo.T, strict=True):
        like *= norm.pdf(t - w[:, None] - x * w, 0, np.sqrt(monte_carlo.NOISE))
    mean = (density * like).sum()
    assert_allclose(line.mean, mean, rtol=1e-6)
    assert_allclose(line.variance, (density * like**2).sum() - mean**2, rtol=1e-6)
    f = line.f((50, 2000), np.random.default_rng(0))
    assert_allclose([f.mean(), f.var()], [line.mean, line.variance], rtol=0.05)
