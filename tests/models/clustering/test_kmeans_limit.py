"""EM with held covariances by a plain loop; the limit of the complete log likelihood by sums."""

import numpy as np
import pytest

from models.clustering.kmeans_limit import complete_at, fit_held, integral

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
