"""A cycle written out against the code that runs, and its operations against closed forms."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bythebook.models.clustering.cycle_costs import (
    arguments,
    cycle_costs,
    em_cycle,
    kmeans_cycle,
)
from bythebook.models.clustering.gaussian_mixture import GaussianMixture, e_step, m_step
from bythebook.models.clustering.kmeans import kmeans


def clouds() -> tuple[np.ndarray, GaussianMixture]:
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(c, 1.0, size=(20, 3)) for c in (0.0, 2.0)])
    theta = GaussianMixture(
        np.array([[0.4, 0.6]]), X[None, [0, 25]], np.array([[np.eye(3), 2 * np.eye(3) + 0.5]])
    )
    return X, theta


def test_a_cycle_of_each_is_what_the_fits_do() -> None:
    X, theta = clouds()
    once = kmeans(X, theta.mu, max_iter=1)
    assert_allclose(kmeans_cycle(X, theta.mu[0]), once.centres[0], rtol=1e-12)
    N, mean, Sigma = em_cycle(X, *arguments(theta))
    after = m_step(theta, e_step(X, theta)[0])
    assert_allclose(N / len(X), after.pi[0], rtol=1e-9)
    assert_allclose(mean, after.mu[0], rtol=1e-9)
    assert_allclose(Sigma, after.Sigma[0], rtol=1e-9)


def test_a_centre_that_gets_no_point_is_zero() -> None:
    X = np.array([[0.0, 1.0], [2.0, 3.0], [7.0, 8.0]])
    found = kmeans_cycle(X, np.array([[1.0, 1.0], [50.0, -50.0], [9.0, 9.0]]))
    np.testing.assert_array_equal(found, [[1, 2], [0, 0], [7, 8]])


def test_operations_have_closed_forms() -> None:
    """A point and component: squares; a quadratic form, two factors, exp, two weighted sums."""
    X, theta = clouds()
    N, D, K = 40, 3, 2
    found = cycle_costs(X, theta)
    assert found["kmeans"] == N * K * D + K * D
    assert found["em"] == N * K * (D * D + D + 1 + 1 + 1 + D + D + D * D) + K * (D + D * D)


def test_what_a_cycle_takes_makes_the_densities() -> None:
    X, theta = clouds()
    scale, mu, precision = arguments(theta)
    for k in range(2):
        off = X - mu[k]
        density = scale[k] * np.exp(np.einsum("nd,de,ne->n", off, precision[k], off))
        expected = multivariate_normal(theta.mu[0, k], theta.Sigma[0, k]).pdf(X)
        common = (2 * np.pi) ** (X.shape[1] / 2)  # left out of every component
        assert_allclose(density, common * theta.pi[0, k] * expected, rtol=1e-10)
