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
    log = -((ON.z - mean[..., None]) ** 2) / (2 * variance[..., None])
    gaussian = np.exp(log) / np.exp(log).sum(-1, keepdims=True)
    assert_allclose(q.q, gaussian, atol=1e-6)  # which has not been assumed


def test_the_search_finds_marginals() -> None:
    mean, variance = f.moments(COARSE, f.inclusive(COARSE))
    assert_allclose(mean, M, atol=1e-3)
    assert_allclose(variance, np.diagonal(S, axis1=1, axis2=2), rtol=1e-2)


def test_cycles_of_means() -> None:
    starts = np.random.default_rng(0).normal(size=(2, 3, 2))
    found = f.cycle_means(M, S, starts)
    assert_allclose(found.mean, np.broadcast_to(M[:, None], (2, 3, 2)), atol=1e-10)
    assert (found.cycles[0] > found.cycles[1]).all()
    assert f.cycle_means(M, S, starts, most=3).cycles.min() == 3
