"""Divergences against closed forms, by hand, and over all runs of states."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.models.approximation import divergences as d

X = np.linspace(-30, 30, 6001)


def test_of_gaussians_at_the_limits_and_at_zero() -> None:
    p, q = stats.norm(0, 1).pdf(X), stats.norm(1, 2).pdf(X)
    kl = np.log(2) + (1 + 1) / 8 - 0.5
    assert_allclose(d.alpha_divergence(p, q, 1.0, 0.01), kl, rtol=1e-6)
    assert_allclose(d.alpha_divergence(q, p, -1.0, 0.01), kl, rtol=1e-6)
    assert_allclose(d.alpha_divergence(p, q, 1 - 1e-5, 0.01), kl, rtol=1e-4)
    squares = ((np.sqrt(p) - np.sqrt(q)) ** 2).sum() * 0.01
    assert_allclose(d.alpha_divergence(p, q, 0.0, 0.01), 2 * squares, rtol=1e-6)


def test_of_two_states_by_hand() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert_allclose(d.alpha_divergence(p, q, 3.0), -(1 - 0.25 / 0.25 - 0.25 / 0.75) / 2)
    assert d.alpha_divergence(p, np.array([1.0, 0.0]), 1.0) == np.inf
    assert d.alpha_divergence(p, np.array([1.0, 0.0]), 3.0) == np.inf
    assert_allclose(d.alpha_divergence(p, np.array([1.0, 0.0]), -1.0), np.log(2))


def test_the_best_run_lies_within_or_covers_all() -> None:
    p = np.array([[0.3, 0.3, 0.0, 0.0, 0.4, 0.0]])
    assert d.best_run(p, -1.0).covered[0].tolist() == [True, True] + [False] * 4
    assert d.best_run(p, 1.0).covered[0].tolist() == [True] * 5 + [False]


def test_of_many_densities_each_is_alone() -> None:
    """By the sums as they are printed; three densities over four states."""
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), (2, 3))
    for alpha, sum_ in {
        1.0: lambda a, b: sum(a * np.log(a / b)),
        -1.0: lambda a, b: sum(b * np.log(b / a)),
        0.5: lambda a, b: 4 / 0.75 * (1 - sum(a**0.75 * b**0.25)),
    }.items():
        expected = [sum_(a, b) for a, b in zip(p, q, strict=True)]
        assert_allclose(d.alpha_divergence(p, q, alpha), expected, rtol=1e-12)
