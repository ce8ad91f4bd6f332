"""Starts of EM for Gaussian mixtures."""

import numpy as np
import pytest

from bythebook.models.clustering.gaussian_mixture import fit
from bythebook.models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    start_at,
    start_at_points,
    start_from_labels,
    start_from_random_responsibilities,
    start_from_responsibilities,
    start_identical,
    start_of_gaussians,
)
from bythebook.models.clustering.kmeans import kmeans, random_points


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.fixture
def X(rng):
    return 50 + rng.normal(size=(60, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]])


def test_start_at_broadcasts_and_copies():
    mu = np.zeros((4, 3, 2), dtype=int)
    one = start_at(mu, np.eye(2))
    assert one.pi.shape == (4, 3)
    assert one.Sigma.shape == (4, 3, 2, 2)
    assert one.mu.dtype == float
    np.testing.assert_allclose(one.pi, 1 / 3, rtol=1e-15)
    other = start_at(mu, np.arange(1.0, 5.0)[:, None, None, None] * np.eye(2), [0.5, 0.25, 0.25])
    assert other.Sigma[2, 1].tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert other.pi[3].tolist() == [0.5, 0.25, 0.25]
    other.Sigma[0, 0, 0, 0] = 7.0  # writable, and no other restart is a view of it
    assert other.Sigma[0, 1, 0, 0] == 1.0


def test_points_with_the_covariance_of_the_data(X, rng):
    start = start_at_points(X, 3, rng, 5)
    assert all((m == X).all(1).any() for m in start.mu.reshape(-1, 2))
    expected = (X - X.mean(0)).T @ (X - X.mean(0)) / len(X)
    np.testing.assert_allclose(start.Sigma, np.broadcast_to(expected, (5, 3, 2, 2)), rtol=1e-12)


def test_the_result_of_k_means_cluster_by_cluster(X, rng):
    found = kmeans(X, random_points(X, 3, rng, 4))
    start = start_from_labels(X, found.labels, 3)
    np.testing.assert_allclose(start.mu, found.centres, rtol=1e-12)
    for r in range(4):
        for k in range(3):
            members = X[found.labels[r] == k]
            np.testing.assert_allclose(start.pi[r, k], len(members) / 60, rtol=1e-12)
            expected = np.cov(members, rowvar=False, bias=True)
            np.testing.assert_allclose(start.Sigma[r, k], expected, rtol=1e-9, atol=1e-10)


def test_clusters_too_small_for_a_covariance_take_that_of_the_data(X):
    labels = np.zeros((1, 60), dtype=np.int64)
    labels[0, 0] = 1  # one point
    labels[0, 1:3] = 2  # two points: a line; and no point in cluster 3
    start = start_from_labels(X, labels, 4)
    for k in (1, 2, 3):
        np.testing.assert_allclose(start.Sigma[0, k], sample_covariance(X), rtol=1e-12)
    assert np.abs(start.Sigma[0, 0] - sample_covariance(X)).max() > 1e-3
    np.testing.assert_allclose(start.mu[0, 1], X[0], rtol=1e-12)
    assert start.pi[0, 3] == 0.0
    assert np.isfinite(fit(X, start, max_iter=1).objective[0, 0])


def test_responsibilities_give_weighted_moments(X, rng):
    gamma = rng.dirichlet(np.ones(3), size=(2, 60))
    start = start_from_responsibilities(X, gamma)
    for r in range(2):
        for k in range(3):
            weights = gamma[r, :, k]
            mean = np.average(X, axis=0, weights=weights)
            expected = np.cov(X, rowvar=False, aweights=weights, bias=True)
            np.testing.assert_allclose(start.mu[r, k], mean, rtol=1e-12)
            np.testing.assert_allclose(start.Sigma[r, k], expected, rtol=1e-9)
            np.testing.assert_allclose(start.pi[r, k], weights.mean(), rtol=1e-12)


def test_random_responsibilities_differ_between_restarts_and_average_to_the_data(X, rng):
    start = start_from_random_responsibilities(X, 3, rng, 4)
    np.testing.assert_allclose((start.pi[..., None] * start.mu).sum(1), np.tile(X.mean(0), (4, 1)))
    assert len(np.unique(start.mu[:, 0, 0])) == 4


def test_identical_components_are_the_gaussian_of_the_data(X):
    start = start_identical(X, 3)
    assert start.mu.shape == (1, 3, 2)
    np.testing.assert_array_equal(start.mu[0, 0], start.mu[0, 2])
    np.testing.assert_allclose(start.Sigma[0, 1], sample_covariance(X), rtol=1e-12)


def test_one_dimension_is_no_special_case(rng):
    X = rng.normal(size=(20, 1))
    np.testing.assert_allclose(sample_covariance(X), [[X.var()]], rtol=1e-12)
    assert fit(X, start_at_points(X, 2, rng, 3), max_iter=5).theta.Sigma.shape == (3, 2, 1, 1)


def test_random_gaussians_are_round_and_standard(rng):
    theta = start_of_gaussians(3, 2, rng, restarts=4000)
    assert theta.mu.shape == (4000, 3, 2)
    np.testing.assert_allclose(theta.mu.std((0, 1)), 1, atol=0.03)
    u = theta.Sigma[..., 0, 0]
    assert u.min() > 0
    assert u.max() < 1
    np.testing.assert_allclose(u.mean(), 0.5, atol=0.02)
    np.testing.assert_array_equal(theta.Sigma, u[..., None, None] * np.eye(2))
    np.testing.assert_allclose(theta.pi, 1 / 3, rtol=1e-15)
