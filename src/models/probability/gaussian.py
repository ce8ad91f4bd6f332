r"""The multivariate Gaussian: density, conditionals, estimates, information.

    p(x) = (2 pi)^(-D/2) |Sigma|^(-1/2) exp(-(x - mu)^T Sigma^-1 (x - mu) / 2)     FCML 2.28

    x_2 | x_1 ~ N(mu_2 + S_21 S_11^-1 (x_1 - mu_1),  S_22 - S_21 S_11^-1 S_12)

A diagonal Sigma makes p a product of univariate Gaussians (FCML exercises 2.5 and 2.6).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from bythebook.models.types import Floats


class Gaussian(NamedTuple):
    """N(mean, covariance)."""

    mean: Floats  # (D,)
    covariance: Floats  # (D, D)


def log_density(X: Floats, mean: Floats, covariance: Floats) -> Floats:
    """Log density of points X (..., D), shape (...)."""
    L = np.linalg.cholesky(covariance)
    flat = (X - mean).reshape(-1, len(mean))
    whitened = solve_triangular(L, flat.T, lower=True)
    log_det = 2 * np.log(np.diag(L)).sum()
    values = -(len(mean) * np.log(2 * np.pi) + log_det + (whitened**2).sum(0)) / 2  # FCML 2.28
    return np.asarray(values.reshape(X.shape[:-1]))


def log_density_1d(x: Floats, mean: Floats | float, variance: Floats | float) -> Floats:
    """Log density of numbers, elementwise."""
    return np.asarray(-(np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance) / 2)  # FCML 2.27


def conditional(joint: Gaussian, value: float) -> Gaussian:
    """The other components given that the first has this value."""
    mean, covariance = joint
    gain = covariance[1:, 0] / covariance[0, 0]
    return Gaussian(
        mean[1:] + gain * (value - mean[0]), covariance[1:, 1:] - np.outer(gain, covariance[0, 1:])
    )


def product_gaps(joint: Gaussian, points: int, rng: np.random.Generator) -> Floats:
    """The log density less that of independent components, at random points, (points,)."""
    spread = np.sqrt(np.diag(joint.covariance))
    X = joint.mean + spread * rng.standard_normal((points, len(spread)))
    product = log_density_1d(X, joint.mean, spread**2).sum(-1)
    return np.asarray(log_density(X, *joint) - product)


def estimate(X: Floats) -> Gaussian:
    """Maximum likelihood from observations X (N, D): sample mean, scatter over N."""
    mean = X.mean(0)
    return Gaussian(mean, (X - mean).T @ (X - mean) / len(X))  # FCML exercises 2.8, 2.10


def log_likelihood(X: Floats, mean: Floats, covariance: Floats) -> Floats:
    """Log likelihood of a sample X (N, D) under means (..., D) and covariances (..., D, D).

    The sample enters through its mean and scatter alone, so many parameters cost little.
    """
    N, D = X.shape
    centre, scatter = estimate(X)
    off = centre - mean
    second = scatter + off[..., :, None] * off[..., None, :]
    quadratic = np.trace(np.linalg.solve(covariance, second), axis1=-2, axis2=-1)
    log_det = np.linalg.slogdet(covariance).logabsdet
    return np.asarray(-N / 2 * (D * np.log(2 * np.pi) + log_det + quadratic))


def mean_information(covariance: Floats) -> Floats:
    """The Fisher information of the mean in one observation, Sigma^-1 (FCML exercise 2.14)."""
    return np.asarray(cho_solve(cho_factor(covariance), np.eye(len(covariance))))


def mean_scores(X: Floats, mean: Floats, covariance: Floats) -> Floats:
    """The derivative d ln p(x) / d mu of observations X (N, D), shape (N, D)."""
    return np.asarray(cho_solve(cho_factor(covariance), (X - mean).T).T)
