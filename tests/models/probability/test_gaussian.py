"""The multivariate Gaussian against scipy.stats, quadrature and an optimiser."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

from bythebook.models.probability.gaussian import (
    Gaussian,
    conditional,
    log_density,
    log_density_1d,
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
