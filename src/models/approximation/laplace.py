r"""The Laplace approximation: a Gaussian at the mode, as wide as the curvature there says.

    log g(w) ~ log g(w_hat) - (w - w_hat)^T Sigma^-1 (w - w_hat) / 2             FCML 4.12
    p(w) ~ N(w_hat, Sigma),   Sigma^-1 = -d^2 log g / dw dw^T  at w_hat               4.13
    int g dw ~ g(w_hat) (2 pi)^(D/2) |Sigma|^(1/2)

In one dimension it is held against densities whose mode and curvature are known:

    gamma(alpha, beta)  y_hat = (alpha - 1) / beta,       variance (alpha - 1) / beta^2
    beta(A, B)          r_hat = (A - 1) / (A + B - 2),    variance r_hat (1 - r_hat) / (A + B - 2)
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, gammainccinv, gammaln, ndtr, xlogy

from models.probability.distributions import log_beta
from models.probability.gaussian import log_density_1d
from models.types import Floats


class Laplace(NamedTuple):
    """N(mean, covariance) in place of g, and the integral of g that goes with it."""

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


class Density(NamedTuple):
    """A density of one variable with what the approximation needs."""

    log_p: Callable[[Floats], Floats]
    mode: float
    curvature: float  # second derivative of the log density at the mode
    support: tuple[float, float]
    reach: float  # nearly nothing lies beyond
    mean: float
    variance: float


def gamma(alpha: float, beta: float) -> Density:
    """Gamma with shape alpha > 1 and rate beta."""
    mode = (alpha - 1) / beta  # FCML 4.4.1
    return Density(
        lambda y: np.asarray(
            alpha * np.log(beta) - gammaln(alpha) + xlogy(alpha - 1, y) - beta * y  # FCML 4.14
        ),
        mode,
        -(alpha - 1) / mode**2,  # FCML 4.4.1
        (0.0, np.inf),
        float(gammainccinv(alpha, 1e-14)) / beta,
        alpha / beta,
        alpha / beta**2,
    )


def beta(a: float, b: float) -> Density:
    """Beta with both parameters above one."""
    mode = (a - 1) / (a + b - 2)  # FCML exercise 4.2
    return Density(
        lambda r: log_beta(r, a, b),
        mode,
        -(a - 1) / mode**2 - (b - 1) / (1 - mode) ** 2,
        (0.0, 1.0),
        1.0,
        a / (a + b),
        a * b / ((a + b) ** 2 * (a + b + 1)),
    )


DENSITIES = {"gamma": gamma, "beta": beta}


class Comparison(NamedTuple):
    """A density and its approximation."""

    variance: float  # of the approximation, whose mean is the mode
    total_variation: float  # half the integral of |p - q|: 0 for equal, 1 for disjoint
    outside: float  # probability that the approximation puts where the density is nought


def compare(density: Density, points: int = 40_001) -> Comparison:
    """How good is the Gaussian at the mode?"""
    variance = -1 / density.curvature  # FCML 4.12
    sd, (low, high) = np.sqrt(variance), density.support
    y = np.linspace(low, max(density.reach, min(density.mode + 10 * sd, high)), points)
    with np.errstate(divide="ignore"):  # log of nought at the ends of the support
        p = np.exp(density.log_p(y))
    q = np.exp(log_density_1d(y, density.mode, variance))
    outside = ndtr((low - density.mode) / sd) + ndtr((density.mode - high) / sd)
    distance = (np.trapezoid(np.abs(p - q), y) + outside) / 2
    return Comparison(float(variance), float(distance), float(outside))
