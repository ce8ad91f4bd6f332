"""Free-form factors against closed forms for Gaussians."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.approximation import factorised as f

M = np.array([[1.0, -2.0], [0.0, 0.5]])
S = np.array([[[1.0, 0.6], [0.6, 2.0]], [[1.0, -0.1], [-0.1, 0.5]]])
ON = f.grid(M, S)
COARSE = f.grid(M, S, points=41)


def test_the_grid_holds_a_density() -> None:
    total = np.exp(ON.log_p).sum((1, 2)) * ON.step.prod(-1)
    assert_allclose(total, 1, rtol=1e-5)


def test_cycling_finds_means_and_diagonal_precisions() -> None:
    mean, variance = f.moments(ON, q := f.exclusive(ON, 80))
    assert_allclose(mean, M, atol=1e-5)
    precision = np.diagonal(np.linalg.inv(S), axis1=1, axis2=2)
    assert_allclose(variance, 1 / precision, rtol=1e-4)
    assert f.gaussian_distance(ON, q).max() < 1e-4


def test_factors_that_are_not_gaussian_are_detected() -> None:
    q = np.full((2, 2, 141), 1 / 141)
    for s, of in enumerate(f.gaussian_distance(ON, f.Factors(q))):
        for i, found in enumerate(of):
            z = ON.z[s, i]
            p = np.exp(-((z - z.mean()) ** 2) / (2 * z.var()))
            assert_allclose(found, np.abs(1 / 141 - p / p.sum()).sum())


def test_the_search_finds_marginals() -> None:
    mean, variance = f.moments(COARSE, f.inclusive(COARSE))
    assert_allclose(mean, M, atol=1e-3)
    assert_allclose(variance, np.diagonal(S, axis1=1, axis2=2), rtol=1e-2)


def test_the_bound_is_minus_the_divergence() -> None:
    q = f.exclusive(ON, 80)
    precision = np.diagonal(np.linalg.inv(S), axis1=1, axis2=2)
    expected = (np.log(precision).sum(-1) + np.linalg.slogdet(S)[1]) / 2
    assert_allclose(-f.bound(ON, q.q), expected, atol=1e-4)


def test_cycles_of_means() -> None:
    starts = np.random.default_rng(0).normal(size=(2, 3, 2))
    found = f.cycle_means(M, S, starts)
    assert_allclose(found.mean, np.broadcast_to(M[:, None], (2, 3, 2)), atol=1e-10)
    assert (found.cycles[0] > found.cycles[1]).all()
    assert f.cycle_means(M, S, starts, most=3).cycles.min() == 3
