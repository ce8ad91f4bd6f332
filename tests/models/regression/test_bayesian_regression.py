"""The posterior against conditioning the joint Gaussian, the evidence against its density."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import invgamma, multivariate_normal, norm

from bythebook.models.regression.bayesian_regression import (
    InverseGamma,
    equivalent_kernel,
    log_evidence,
    noise_posterior,
    posterior,
    predictive,
)
from bythebook.models.regression.ridge import ridge_path
from bythebook.models.types import Floats

SIGMA2 = 0.4


def design(seed: int, n: int, d: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def test_posterior_is_the_joint_gaussian_conditioned_on_the_targets() -> None:
    Phi, t = design(0, 7, 3)
    root = np.random.default_rng(1).normal(size=(3, 3))
    mu, Sigma = np.array([1.0, -2.0, 0.5]), root @ root.T + np.eye(3)
    found = posterior(Phi, t, SIGMA2, mu, Sigma)
    cov_t = Phi @ Sigma @ Phi.T + SIGMA2 * np.eye(7)
    gain = np.linalg.solve(cov_t, Phi @ Sigma).T
    assert_allclose(found.mean, mu + gain @ (t - Phi @ mu), rtol=1e-9)
    assert_allclose(found.covariance, Sigma - gain @ Phi @ Sigma, rtol=1e-8, atol=1e-12)


def test_posterior_mean_is_ridge_with_the_matching_penalty() -> None:
    Phi, t = design(2, 9, 4)
    for variance in (0.01, 1.0, 50.0):
        mean = posterior(Phi, t, SIGMA2, np.zeros(4), variance * np.eye(4)).mean
        ridge = ridge_path(Phi, t, np.array([SIGMA2 / variance])).weights[0]
        assert_allclose(mean, ridge, rtol=1e-10)


def test_a_flat_prior_leaves_least_squares_and_a_narrow_one_itself() -> None:
    Phi, t = design(3, 9, 2)
    mu = np.array([3.0, -1.0])
    flat = posterior(Phi, t, SIGMA2, mu, 1e12 * np.eye(2))
    assert_allclose(flat.mean, np.linalg.lstsq(Phi, t, rcond=None)[0], rtol=1e-8)
    assert_allclose(flat.covariance, SIGMA2 * np.linalg.inv(Phi.T @ Phi), rtol=1e-8)
    narrow = posterior(Phi, t, SIGMA2, mu, 1e-12 * np.eye(2))
    assert_allclose(narrow.mean, mu, rtol=1e-8)


def test_log_evidence_is_the_density_of_the_targets_for_every_set_and_prior() -> None:
    variances = np.array([0.05, 1.0, 30.0])
    for n, d in ((8, 3), (3, 5)):  # more points than weights, and fewer
        sets = [design(seed, n, d) for seed in range(4)]
        Phi, t = (np.stack(part) for part in zip(*sets, strict=True))
        found = log_evidence(Phi, t, SIGMA2, variances)
        assert found.shape == (3, 4)
        for i, s in enumerate(variances):
            for j in range(4):
                cov = SIGMA2 * np.eye(n) + s * Phi[j] @ Phi[j].T
                expected = multivariate_normal(np.zeros(n), cov).logpdf(t[j])
                assert_allclose(found[i, j], expected, rtol=1e-10)


def test_log_evidence_does_not_underflow() -> None:
    """A hundred points of FCML Figure 3.24: the density itself is about 1e-178."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 100)
    t = 5 * x**3 - x**2 + x + np.sqrt(150) * rng.normal(size=100)
    found = log_evidence(x[:, None] ** np.arange(4), t, 150.0, np.array([1.0]))
    assert np.all((found > -440) & (found < -385))


def test_prediction_is_the_joint_gaussian_conditioned_on_the_targets() -> None:
    Phi, t = design(4, 9, 2)
    seen, new = Phi[:6], Phi[6:]
    Sigma = np.diag([2.0, 0.7])
    found = predictive(new, SIGMA2, posterior(seen, t[:6], SIGMA2, np.zeros(2), Sigma))
    joint = Phi @ Sigma @ Phi.T + SIGMA2 * np.eye(9)
    gain = np.linalg.solve(joint[:6, :6], joint[:6, 6:]).T
    assert_allclose(found.mean, gain @ t[:6], rtol=1e-9)
    assert_allclose(found.variance, np.diag(joint[6:, 6:] - gain @ joint[:6, 6:]), rtol=1e-9)


def test_posterior_of_the_noise_is_prior_times_likelihood() -> None:
    residuals = design(5, 11, 1)[1]
    prior = InverseGamma(1.7, 0.6)
    after = noise_posterior(residuals, prior)
    v = np.linspace(0.2, 4, 30)
    assert_allclose(prior.log_density(v), invgamma(1.7, scale=0.6).logpdf(v), rtol=1e-10)
    product = prior.log_density(v) + norm(0, np.sqrt(v)[:, None]).logpdf(residuals).sum(-1)
    assert_allclose(np.ptp(product - after.log_density(v)), 0, atol=1e-11)


def test_the_equivalent_kernel_is_what_a_target_of_one_adds() -> None:
    rng = np.random.default_rng(9)
    Phi, at = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    weights = posterior(Phi, np.zeros(5), 0.3, np.zeros(3), np.eye(3))
    kernel = equivalent_kernel(at, Phi, 0.3, weights)
    for n, unit in enumerate(np.eye(5)):
        alone = posterior(Phi, unit, 0.3, np.zeros(3), np.eye(3)).mean
        np.testing.assert_allclose(kernel[:, n], at @ alone, atol=1e-12)
