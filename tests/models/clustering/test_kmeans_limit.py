"""EM with held covariances by a plain loop; the limit of the complete log likelihood by sums."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from models.clustering.kmeans_limit import approach, complete_at, fit_held, integral

CENTRES = np.array([[-1.0, 0.0], [1.0, 0.0]])
WEIGHTS = np.array([[0.5, 0.5], [0.8, 0.2]])


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((40, 2)) + np.repeat(CENTRES, 20, axis=0)


def test_held_covariances_by_a_loop(X):
    epsilon = np.array([1.0, 0.2])
    em = fit_held(X, CENTRES, epsilon, WEIGHTS, fixed_pi=True, steps=7)
    for i, (e, pi) in enumerate((e, pi) for e in epsilon for pi in WEIGHTS):
        mu = CENTRES
        for _ in range(7):
            p = pi * np.exp(-((X[:, None] - mu) ** 2).sum(2) / (2 * e))
            gamma = p / p.sum(1, keepdims=True)
            mu = gamma.T @ X / gamma.sum(0)[:, None]
        np.testing.assert_allclose(em.theta.mu[i], mu, rtol=1e-9)
    assert sorted(em.snapshots) == list(range(8))


def test_the_complete_log_likelihood_by_sums(X):
    em = fit_held(X, CENTRES, np.array([0.3]), WEIGHTS[1:], fixed_pi=True, steps=1)
    r = np.repeat(np.eye(2), 20, axis=0)
    whole, constant = complete_at(X, em.theta, CENTRES, r)
    J = ((X - r @ CENTRES) ** 2).sum()
    assert constant[0] == pytest.approx(20 * np.log(0.16) - 40 * np.log(2 * np.pi * 0.3))
    assert whole[0] - constant[0] == pytest.approx(-J / 2 / 0.3)


def test_integrals():
    assert integral(0.5, 2, 2) == pytest.approx(1)
    assert integral(0.5, 2, 1) == pytest.approx(np.sqrt(np.pi))


def test_the_approach_to_kmeans(X):
    found = approach(X, CENTRES, np.array([0.5, 1e-6]), WEIGHTS, fixed_pi=False)
    theirs = KMeans(2, init=CENTRES, n_init=1, tol=0).fit(X)
    assert found.distortion[-1] == pytest.approx(theirs.inertia_)
    for values in found.ends:
        assert values.shape == (2, 2)
        assert (values[0] > 1e-4).all()
        assert (values[1] < 1e-9).all()
    assert found.path_difference.max() < 1e-9
    mu = fit_held(X, CENTRES, np.array([0.5]), WEIGHTS[1:], fixed_pi=False, steps=200).theta.mu[0]
    expected = np.abs(mu - theirs.cluster_centers_).max()
    assert found.ends.difference[0, 1] == pytest.approx(expected)
    gap = (found.expected_complete - found.constant_terms)[1]
    assert gap == pytest.approx(-theirs.inertia_ / 2e-6)
