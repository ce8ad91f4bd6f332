"""EM with samples: optimisers, plain loops and enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

from bythebook.models.convergence import NotConverged
from bythebook.models.sampling.sampled_em import (
    assignments,
    augment,
    data,
    em,
    expected,
    maximise,
    posterior,
    responsibilities,
)

X = data(30, 3.0, 3, np.random.default_rng(0))
START = np.tile([-0.5, 0.5], (3, 1))


def negative(x: np.ndarray, precision: float) -> object:
    def f(m: np.ndarray) -> float:
        like = np.log(norm.pdf(x, m[0]) / 2 + norm.pdf(x, m[1]) / 2).sum()
        return float(precision * (m**2).sum() / 2 - like)

    return f


def test_em_ends_where_an_optimiser_does() -> None:
    for precision in (0.0, 2.0):
        found = em(X, START, 500, precision).last
        best = [minimize(negative(x, precision), [-1.0, 1.0]).x for x in X]  # type: ignore[call-overload]
        assert_allclose(found, best, atol=1e-4)
    assert_allclose(posterior(X, 2.0).mode, best, atol=5e-3)


def test_em_that_stops_early_warns() -> None:
    with pytest.warns(NotConverged, match="3 iterations in 3 fits"):
        em(X, START, 3, 0.0)


def test_expected_log_likelihood_over_all_assignments() -> None:
    x, means = np.array([[0.3, -1.0, 2.0]]), np.array([[-1.0, 1.5]])
    shares = responsibilities(x, means)
    total = 0.0
    for z in product((0, 1), repeat=3):
        weight = np.prod([shares[0, n] if k else 1 - shares[0, n] for n, k in enumerate(z)])
        total += weight * sum(np.log(norm.pdf(x[0, n], means[0, k]) / 2) for n, k in enumerate(z))
    assert_allclose(expected(x, shares, means), total)
    joint = norm.pdf(x[0, 1], means[0]) / norm.pdf(x[0, 1], means[0]).sum()
    assert_allclose(shares[0, 1], joint[1])


def test_assignments_and_the_maximum() -> None:
    rng = np.random.default_rng(0)
    shares = np.full((2, 500), 0.3)
    assert set(np.unique(assignments(shares, 1, rng))) == {0.0, 1.0}
    assert_allclose(assignments(shares, 50, rng).mean(), 0.3, atol=0.01)
    found = maximise(np.array([[1.0, 2.0, 6.0]]), np.array([[0.0, 0.0, 1.0]]), 0.5)
    assert_allclose(found, [[3 / 2.5, 6 / 1.5]])


def test_sampled_em_is_near_em_with_many_samples() -> None:
    exact = em(X, START, 300, 0.0).last
    found = em(X, START, 60, 0.0, 2000, np.random.default_rng(0)).last
    assert 0 < np.abs(found - exact).max() < 0.1


def test_data_augmentation_samples_the_posterior() -> None:
    exact = em(X, START, 300, 0.0).last
    draws = np.sort(augment(X, exact, 25, 600, 0.25, np.random.default_rng(0)), axis=-1)
    known = posterior(X, 0.25)
    assert_allclose(draws.mean(1), known.mean, atol=0.12)
    assert_allclose(draws.std(1), known.sd, rtol=0.25)
