r"""The multivariate Gaussian: density and conditionals.

    p(x) = (2 pi)^(-D/2) |Sigma|^(-1/2) exp(-(x - mu)^T Sigma^-1 (x - mu) / 2)     FCML 2.28

    x_2 | x_1 ~ N(mu_2 + S_21 S_11^-1 (x_1 - mu_1),  S_22 - S_21 S_11^-1 S_12)

A diagonal Sigma makes p a product of univariate Gaussians (FCML exercises 2.5 and 2.6).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

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
