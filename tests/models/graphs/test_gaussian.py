"""Gaussian messages against inverses; conditional covariances against regression residuals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.models.graphs.gaussian import beliefs, conditional_covariance, rounds
from bythebook.models.graphs.pairwise import random_tree


def drawn(links: np.ndarray, N: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.zeros((N, N))
    A[links[:, 0], links[:, 1]] = rng.uniform(-1, 1, len(links))
    A = A + A.T
    A += np.diag(np.abs(A).sum(1) + rng.uniform(0.2, 1.0, N))
    return A, rng.standard_normal(N)


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_gives_the_inverse(seed: int) -> None:
    A, b = drawn(random_tree(7, np.random.default_rng(seed)), 7, seed)
    *_, last = (m for m, _ in zip(rounds(A, b), range(8), strict=False))
    mean, variance = beliefs(A, b, last)
    assert_allclose(mean, np.linalg.solve(A, b), rtol=1e-10, atol=1e-12)
    assert_allclose(variance, np.diag(np.linalg.inv(A)), rtol=1e-10)


def test_a_converged_loop_has_the_right_means_and_other_variances() -> None:
    """Weiss and Freeman: at convergence the means are exact on any graph."""
    links = np.array([[0, 1], [1, 2], [2, 0]])
    A, b = drawn(links, 3, 5)
    *_, last = (m for m, _ in zip(rounds(A, b), range(400), strict=False))
    mean, variance = beliefs(A, b, last)
    assert_allclose(mean, np.linalg.solve(A, b), rtol=1e-9)
    assert np.abs(variance - np.diag(np.linalg.inv(A))).max() > 1e-4


def test_many_at_once() -> None:
    pairs = [drawn(np.array([[0, 1]]), 2, seed) for seed in range(3)]
    A, b = np.stack([a for a, _ in pairs]), np.stack([c for _, c in pairs])
    _, many = (m for m, _ in zip(rounds(A, b), range(2), strict=False))
    for k in range(3):
        mean, variance = (part[k] for part in beliefs(A, b, many))
        assert_allclose(mean, np.linalg.solve(A[k], b[k]))
        assert_allclose(variance, np.diag(np.linalg.inv(A[k])))


def test_conditional_covariance_is_that_of_residuals() -> None:
    rng = np.random.default_rng(6)
    L = rng.standard_normal((4, 4))
    Sigma = L @ L.T
    rest = [1, 3]
    known = np.linalg.inv(Sigma[np.ix_(rest, rest)])
    residual = Sigma[0, 2] - Sigma[0, rest] @ known @ Sigma[rest, 2]
    assert conditional_covariance(Sigma, 0, 2) == pytest.approx(residual)
    inverse = np.linalg.inv(np.linalg.inv(Sigma)[np.ix_([0, 2], [0, 2])])
    assert conditional_covariance(Sigma, 0, 2) == pytest.approx(inverse[0, 1])
    assert conditional_covariance(Sigma[:2, :2], 0, 1) == Sigma[0, 1]
    variance = 1 / np.linalg.inv(Sigma)[2, 2]
    assert conditional_covariance(Sigma, 2, 2) == pytest.approx(variance)
