"""The multivariate Gaussian against scipy.stats, quadrature and an optimiser."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from bythebook.models.probability.gaussian import (
    Gaussian,
    conditional,
    estimate,
    log_density,
    log_density_1d,
    log_likelihood,
    mean_information,
    mean_scores,
    product_gaps,
)

MEAN = np.array([1.0, -2.0, 0.5])
SIGMA = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.8]])
X = np.random.default_rng(1).normal(size=(7, 3))


def test_densities_against_scipy() -> None:
    assert_allclose(log_density(X, MEAN, SIGMA), multivariate_normal(MEAN, SIGMA).logpdf(X))
    grid = X.reshape(7, 1, 3) + np.zeros((7, 2, 3))
    assert log_density(grid, MEAN, SIGMA).shape == (7, 2)
    assert_allclose(log_density_1d(X, 0.4, 2.5), norm.logpdf(X, 0.4, np.sqrt(2.5)))


def test_the_conditional_is_the_joint_along_a_line_normalised() -> None:
    joint = Gaussian(MEAN[:2], SIGMA[:2, :2])
    found = conditional(joint, 1.7)
    y = np.linspace(-12, 8, 4001)
    p = multivariate_normal(*joint).pdf(np.stack([np.full_like(y, 1.7), y], axis=-1))
    p /= np.trapezoid(p, y)
    mean = np.trapezoid(y * p, y)
    assert_allclose(found.mean[0], mean, rtol=1e-8)
    assert_allclose(found.covariance[0, 0], np.trapezoid((y - mean) ** 2 * p, y), rtol=1e-8)


def test_the_conditional_in_three_dimensions() -> None:
    found = conditional(Gaussian(MEAN, SIGMA), 0.0)
    P = np.linalg.inv(SIGMA)  # the precision's block is the conditional's precision
    assert_allclose(found.covariance, np.linalg.inv(P[1:, 1:]), rtol=1e-10)
    assert_allclose(found.mean, MEAN[1:] + np.linalg.inv(P[1:, 1:]) @ P[1:, 0] * MEAN[0])


def test_the_likelihood_of_a_sample_is_the_sum_over_it() -> None:
    means, sigmas = np.stack([MEAN, np.zeros(3)]), np.stack([SIGMA, np.eye(3)])
    expected = [
        multivariate_normal(m, S).logpdf(X).sum() for m, S in zip(means, sigmas, strict=True)
    ]
    assert_allclose(log_likelihood(X, means, sigmas), expected, rtol=1e-10)


def test_the_estimate_is_what_an_optimiser_finds() -> None:
    data = X[:, :2]

    def loss(p: np.ndarray) -> float:
        L = np.array([[np.exp(p[2]), 0], [p[3], np.exp(p[4])]])
        return -float(multivariate_normal(p[:2], L @ L.T).logpdf(data).sum())

    best = minimize(loss, np.zeros(5), options={"gtol": 1e-7}).x
    L = np.array([[np.exp(best[2]), 0], [best[3], np.exp(best[4])]])
    found = estimate(data)
    assert_allclose(found.mean, best[:2], atol=1e-4)
    assert_allclose(found.covariance, L @ L.T, atol=1e-4)


def test_scores_by_differences_and_their_covariance() -> None:
    h = 1e-6 * np.eye(3)
    law = [(log_density(X, MEAN + e, SIGMA) - log_density(X, MEAN - e, SIGMA)) / 2e-6 for e in h]
    assert_allclose(mean_scores(X, MEAN, SIGMA), np.transpose(law), rtol=1e-5, atol=1e-7)
    assert_allclose(mean_information(SIGMA) @ SIGMA, np.eye(3), atol=1e-12)


def test_only_a_diagonal_covariance_makes_a_product() -> None:
    rng = np.random.default_rng(0)
    assert np.abs(product_gaps(Gaussian(MEAN, np.diag([2.0, 1.0, 0.8])), 100, rng)).max() < 1e-12
    assert np.abs(product_gaps(Gaussian(MEAN, SIGMA), 100, rng)).max() > 0.1
