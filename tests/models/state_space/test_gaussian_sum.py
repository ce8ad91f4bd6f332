"""Exact mixtures as beliefs, against all paths of components one by one."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.models.state_space import gaussian_sum
from bythebook.models.state_space.gaussian_sum import (
    Belief,
    Emission,
    collapse,
    gaussian_sum_filter,
    moments,
)
from bythebook.models.state_space.kalman import LDS, autoregression, kalman_filter, simulate
from bythebook.models.types import Floats

A = np.array([[0.9, 0.3], [-0.2, 0.8]])
GAMMA = np.array([[0.3, 0.1], [0.1, 0.2]])
START = Belief(
    np.log([0.3, 0.7]),
    np.array([[1.0, -1.0], [-2.0, 0.5]]),
    np.array([[[1.0, -0.2], [-0.2, 0.5]], [[0.4, 0.0], [0.0, 0.9]]]),
)
EMISSION = Emission(
    np.array([0.5, 0.2, 0.3]),
    np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, -1.0]]]),
    np.array([[[0.3]], [[0.5]], [[2.0]]]),
)
N = 3


def enumerated(x: Floats) -> Belief:
    """Every start and every path of components: condition the joint Gaussian of states and data."""
    parts = []
    for j, path in itertools.product(range(2), itertools.product(range(3), repeat=N)):
        mean, cov = [START.mean[j]], np.zeros((2 * N, 2 * N))
        V = START.cov[j]
        for n in range(N):
            cov[2 * n : 2 * n + 2, 2 * n : 2 * n + 2] = V
            for m in range(n + 1, N):  # cov[z_m, z_n] = A^(m - n) V_n
                block = np.linalg.matrix_power(A, m - n) @ V
                cov[2 * m : 2 * m + 2, 2 * n : 2 * n + 2] = block
                cov[2 * n : 2 * n + 2, 2 * m : 2 * m + 2] = block.T
            V = A @ V @ A.T + GAMMA
            mean.append(A @ mean[-1])
        mu = np.concatenate(mean[:N])
        C, noise = np.zeros((N, 2 * N)), np.zeros((N, N))
        for n, k in enumerate(path):
            C[n, 2 * n : 2 * n + 2], noise[n, n] = EMISSION.C[k, 0], EMISSION.Sigma[k, 0, 0]
        S, cross = C @ cov @ C.T + noise, (cov @ C.T)[-2:]
        gain = np.linalg.solve(S, cross.T).T
        prior = np.exp(START.log_w[j]) * np.prod(EMISSION.pi[list(path)])
        weight = prior * multivariate_normal(C @ mu, S).pdf(x[:, 0])
        parts.append((weight, mu[-2:] + gain @ (x[:, 0] - C @ mu), cov[-2:, -2:] - gain @ cross.T))
    w, means, covs = (np.array(part) for part in zip(*parts, strict=True))
    return Belief(np.log(w), means, covs)


@pytest.fixture(scope="module")
def x() -> Floats:
    return np.array([[0.7], [-1.5], [2.0]])


def test_the_filter_is_the_sum_over_all_paths(x: Floats) -> None:
    sums, right = gaussian_sum_filter(START, A, GAMMA, EMISSION, x), enumerated(x)
    found = sums.filtered[-1]
    assert [len(belief.mean) for belief in sums.filtered] == [6, 18, 54]
    # Both run over starts first and the last data point's components last.
    total = np.exp(right.log_w).sum()
    assert_allclose(np.exp(sums.log_c.sum()), total, rtol=1e-12)
    assert_allclose(np.exp(found.log_w), np.exp(right.log_w) / total, rtol=1e-10)
    assert_allclose(found.mean, right.mean, rtol=1e-10, atol=1e-12)
    assert_allclose(found.cov, right.cov, rtol=1e-10, atol=1e-12)


def test_no_two_of_the_gaussians_are_the_same(x: Floats) -> None:
    sums = gaussian_sum_filter(START, A, GAMMA, EMISSION, x)
    assert [gaussian_sum.distinct(belief) for belief in sums.filtered] == [6, 18, 54]


def test_components_that_are_the_same_count_once(x: Floats) -> None:
    twice = Emission(
        np.array([0.5, 0.5]), np.repeat(EMISSION.C[:1], 2, 0), np.repeat(EMISSION.Sigma[:1], 2, 0)
    )
    sums = gaussian_sum_filter(START, A, GAMMA, twice, x)
    assert [gaussian_sum.distinct(belief) for belief in sums.filtered] == [2, 2, 2]


def counts(variances: list[float], means: list[float]) -> dict[str, list[int]]:
    """How many Gaussians each belief about an autoregression has, by the place of the mixture."""
    K = len(variances)
    emission = Emission(np.full(K, 1 / K), np.ones((K, 1, 1)), np.array(variances).reshape(K, 1, 1))
    x = np.random.default_rng(2).standard_normal((5, 1))
    by = gaussian_sum.beliefs_by_mixture(
        autoregression(0.9, 0.5, 2.0), emission, np.array([means]).T, x
    )
    return {
        name: [gaussian_sum.distinct(belief) for belief in beliefs] for name, beliefs in by.items()
    }


@pytest.mark.parametrize("K", [2, 3])
def test_a_mixture_in_the_emission_grows_by_powers_and_one_in_the_start_does_not(K: int) -> None:
    assert counts([0.2, 2.0, 9.0][:K], [-1.0, 1.0]) == {
        "mixture_emission": [K, K**2, K**3, K**4, K**5],
        "gaussian_first": [1, K, K**2, K**3, K**4],
        "mixture_start": [2] * 5,
        "gaussian": [1] * 5,
    }


def test_gaussians_that_coincide_are_no_growth() -> None:
    found = counts([1.0, 1.0], [1.0, 1.0, 2.0])
    assert found["mixture_emission"] == [1] * 5
    assert found["mixture_start"] == [2] * 5


def test_one_component_is_the_kalman_filter() -> None:
    theta = LDS(A, GAMMA, EMISSION.C[2], EMISSION.Sigma[2], START.mean[0], START.cov[0])
    _, x = simulate(theta, 8, np.random.default_rng(0))
    exact = kalman_filter(theta, x)
    one = Emission(np.ones(1), theta.C[np.newaxis], theta.Sigma[np.newaxis])
    start = Belief(np.zeros(1), START.mean[:1], START.cov[:1])
    sums = gaussian_sum_filter(start, A, GAMMA, one, x)
    assert_allclose(sums.log_c, exact.log_c, rtol=0, atol=1e-12)
    for belief, mean, cov in zip(sums.filtered, *exact.filtered, strict=True):
        assert_allclose(belief.mean[0], mean, rtol=0, atol=1e-12)
        assert_allclose(belief.cov[0], cov, rtol=0, atol=1e-12)


def test_collapsing_keeps_the_moments() -> None:
    rng = np.random.default_rng(1)
    k = (rng.random(400_000) < 0.7).astype(int)
    roots = np.linalg.cholesky(START.cov)
    z = START.mean[k] + np.matvec(roots[k], rng.standard_normal((len(k), 2)))
    one = collapse(START)
    assert_allclose(one.log_w, [0.0])
    assert_allclose(one.mean[0], z.mean(0), rtol=0, atol=0.02)
    assert_allclose(one.cov[0], np.cov(z.T), rtol=0, atol=0.03)


def test_a_reduced_filter_starts_every_step_with_one(x: Floats) -> None:
    sums = gaussian_sum_filter(START, A, GAMMA, EMISSION, x, collapse)
    assert [len(belief.mean) for belief in sums.filtered] == [6, 3, 3]
    exact = gaussian_sum_filter(START, A, GAMMA, EMISSION, x)
    assert_allclose(sums.log_c[0], exact.log_c[0], rtol=1e-14)
    gap = moments(sums.filtered[-1]).mean - moments(exact.filtered[-1]).mean
    assert 1e-6 < np.abs(gap).max() < 0.5


def test_the_density_of_a_mixture() -> None:
    belief = Belief(np.log([0.25, 0.75]), np.array([[0.0], [3.0]]), np.array([[[1.0]], [[4.0]]]))
    z = np.array([-1.0, 0.5, 7.0])
    right = 0.25 * multivariate_normal(0, 1).pdf(z) + 0.75 * multivariate_normal(3, 4).pdf(z)
    assert_allclose(gaussian_sum.density(belief, z), right, rtol=1e-12)
