"""MAP means: the update against a numerical maximum, and its limits."""

import numpy as np
import pytest
from scipy.stats import norm

from bythebook.models.clustering import gaussian_mixture
from bythebook.models.clustering.gaussian_mixture_map import MeanPrior, fit, log_prior, m_step
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.mixture import expected_complete


@pytest.fixture
def rng():
    return np.random.default_rng(67)


@pytest.fixture
def X(rng):
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    return np.repeat(centres, 20, axis=0) + rng.standard_normal((60, 2))


def test_the_means_maximise_the_bound_for_the_old_variances(X, rng):
    prior = MeanPrior(0.5, 0.2)
    theta = start_at_points(X, 3, rng)
    theta = theta._replace(Sigma=gaussian_mixture.constrain(theta.Sigma, "diagonal"))
    gamma = gaussian_mixture.responsibilities(X, theta)
    best = m_step(theta, gaussian_mixture.e_step(X, theta)[0], prior)

    def objective(mu, Sigma):
        candidate = best._replace(mu=mu, Sigma=Sigma)
        joint = gaussian_mixture.log_joint(X, candidate)
        return expected_complete(joint, gamma)[0] + log_prior(candidate, prior)[0]

    for _ in range(30):
        other = best.mu + 0.05 * rng.standard_normal(best.mu.shape)
        assert objective(other, theta.Sigma) < objective(best.mu, theta.Sigma)
        factor = np.exp(0.1 * rng.standard_normal((1, 3, 1, 2)))
        assert objective(best.mu, best.Sigma * factor) < objective(best.mu, best.Sigma)


def test_log_prior_is_normalised(X, rng):
    theta = start_at_points(X, 2, rng, 3)
    expected = norm.logpdf(theta.mu, 1.0, np.sqrt(0.3)).sum(axis=(1, 2))
    np.testing.assert_allclose(log_prior(theta, MeanPrior(1.0, 0.3)), expected, rtol=1e-12)


@pytest.mark.parametrize("s2", [0.01, 1.0, 100.0])
def test_the_log_posterior_never_falls(X, rng, s2):
    em = fit(X, start_at_points(X, 3, rng, 10), MeanPrior(0.0, s2))
    assert np.nanmin(np.diff(em.objective)) > -1e-8


def test_the_limits_of_the_prior(X, rng):
    start = start_at_points(X, 3, rng, 10)
    loose = fit(X, start, MeanPrior(0.0, 1e10), tol=1e-10)
    ml = gaussian_mixture.fit(X, start, covariance="diagonal", tol=1e-10)
    np.testing.assert_allclose(
        np.sort(loose.theta.mu[loose.best], axis=0),
        np.sort(ml.theta.mu[ml.best], axis=0),
        atol=1e-3,
    )
    tight = fit(X, start, MeanPrior(1.0, 1e-10))
    np.testing.assert_allclose(tight.theta.mu, 1.0, atol=1e-4)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(X, rng):
    """1000 steps, or the first gain of no more than 1e-8."""
    start = start_at_points(X, 2, rng)
    assert fit(X, start, MeanPrior(0.0, 10.0), tol=-np.inf).iterations.tolist() == [1000]
    gains = np.diff(fit(X, start, MeanPrior(0.0, 10.0)).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]
