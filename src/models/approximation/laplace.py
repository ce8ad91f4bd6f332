r"""The Laplace approximation: a Gaussian at the mode, with the covariance from the curvature.

log g(w) ~ log g(w_hat) - (w - w_hat)^T Sigma^-1 (w - w_hat) / 2             FCML 4.12
p(w) ~ N(w_hat, Sigma),   Sigma^-1 = -d^2 log g / dw dw^T  at w_hat               4.13
int g dw ~ g(w_hat) (2 pi)^(D/2) |Sigma|^(1/2)
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bythebook.models.types import Floats


class Laplace(NamedTuple):
    """N(mean, covariance) as an approximation of g, and the integral of g that goes with it."""

    mean: Floats  # (D,)
    covariance: Floats  # (D, D)
    log_evidence: float


def approximate(mode: Floats, hessian: Floats, log_g: float) -> Laplace:
    """The approximation from the mode (D,), the Hessian of log g there (D, D) and log g there."""
    D = len(mode)
    factor = cho_factor(-hessian)
    log_det = -2 * float(np.log(np.diag(factor[0])).sum())
    evidence = log_g + (D * np.log(2 * np.pi) + log_det) / 2
    return Laplace(mode, cho_solve(factor, np.eye(D)), float(evidence))  # FCML 4.13


def expected_sigmoid(mean: Floats, variance: Floats, points: int = 801) -> Floats:
    """E{1 / (1 + e^-a)} for a ~ N(mean, variance), elementwise, by the trapezoidal rule.

    a = w^T x is Gaussian where w is: the integral that FCML 4.15 samples has one dimension.
    """
    z = np.linspace(-9, 9, points)
    weight = np.exp(-(z**2) / 2)
    a = mean[..., None] + np.sqrt(variance)[..., None] * z
    return np.asarray((weight * expit(a)).sum(-1) / weight.sum())
