r"""Target densities of one or two variables, with their exact moments and integrals.

    gamma(alpha, beta)  y_hat = (alpha - 1) / beta,       variance (alpha - 1) / beta^2
    beta(A, B)          r_hat = (A - 1) / (A + B - 2),    variance r_hat (1 - r_hat) / (A + B - 2)
    regression          w_hat by Newton-Raphson, `bythebook.models.classification.logistic`

are the modes and the variances of the Gaussians there (FCML 4.4.1, exercise 4.2, FCML 4.4.2).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammainccinv, gammaln, ndtr, xlogy

from bythebook.models.classification.logistic import (
    Posterior,
    hessian,
    log_g,
    newton_raphson,
    quadrature,
)
from bythebook.models.probability import coin
from bythebook.models.probability.gaussian import log_density
from bythebook.models.regression import bayesian_regression
from bythebook.models.types import Floats


class Target(NamedTuple):
    """A density of D variables, and the quantities that approximations use or are tested on."""

    log_g: Callable[[Floats], Floats]  # its log up to a constant, of points (..., D)
    log_evidence: float  # the log of the integral of g
    mode: Floats  # (D,)
    hessian: Floats  # (D, D) second derivatives of log g at the mode
    mean: Floats  # (D,)
    covariance: Floats  # (D, D)
    support: Floats  # (D, 2) smallest and largest values
    reach: Floats  # (D, 2) bounds that contain nearly all of the mass


def gamma(alpha: float, beta: float) -> Target:
    """Gamma with shape alpha > 1 and rate beta."""
    mode = (alpha - 1) / beta  # FCML 4.4.1
    far = max(float(gammainccinv(alpha, 1e-14)) / beta, mode + 10 * np.sqrt(alpha - 1) / beta)

    def log_p(y: Floats) -> Floats:
        constant = alpha * np.log(beta) - gammaln(alpha)
        return np.asarray(constant + xlogy(alpha - 1, y[..., 0]) - beta * y[..., 0])  # FCML 4.14

    curvature = -(alpha - 1) / mode**2  # FCML 4.4.1
    return _scalar(log_p, mode, curvature, alpha / beta, alpha / beta**2, (0.0, np.inf), far)


def beta(a: float, b: float) -> Target:
    """Beta with both parameters above one."""
    mode = (a - 1) / (a + b - 2)  # FCML exercise 4.2
    curvature = -(a - 1) / mode**2 - (b - 1) / (1 - mode) ** 2
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    belief = coin.Beta(np.asarray(a), np.asarray(b))

    def log_p(r: Floats) -> Floats:
        return np.asarray(coin.log_density(belief, r[..., 0]))

    return _scalar(log_p, mode, curvature, a / (a + b), variance, (0.0, 1.0), 1.0)


def _scalar(
    log_p: Callable[[Floats], Floats],
    mode: float,
    curvature: float,
    mean: float,
    variance: float,
    support: tuple[float, float],
    far: float,
) -> Target:
    """A density of one variable, normalised."""
    at, width = np.array([mode]), np.array([[curvature]])
    ends, reach = np.array([support]), np.array([[support[0], far]])
    return Target(log_p, 0.0, at, width, np.array([mean]), np.array([[variance]]), ends, reach)


def regression(posterior: Posterior) -> Target:
    """The posterior of two weights; exact for real responses, else by quadrature."""
    climb = newton_raphson(posterior, np.zeros((1, 2)), tol=1e-20)
    w = climb.path[-1, 0]
    H = hessian(posterior, w)
    wide = 12 * np.sqrt(np.diag(np.linalg.solve(-H, np.eye(len(H)))))
    exact = quadrature(posterior, w, wide)
    if posterior.response == "real":
        prior = np.zeros(2), posterior.sigma2 * np.eye(2)
        mean, S = bayesian_regression.posterior(posterior.X, posterior.t, 1.0, *prior)
    else:
        mean = exact.probability @ exact.w
        S = (exact.probability[:, None] * (exact.w - mean)).T @ (exact.w - mean)
    support, reach = np.tile([-np.inf, np.inf], (2, 1)), np.stack([w - wide, w + wide], axis=-1)
    return Target(
        lambda at: log_g(posterior, at), exact.log_evidence, w, H, mean, S, support, reach
    )


def total_variation(target: Target, mean: Floats, covariance: Floats) -> tuple[float, float]:
    """Half the integral of |p - N(mean, covariance)|: 0 for equal, 1 for disjoint densities.

    The integral uses the trapezoidal rule. The second value is the Gaussian's mass off the support.
    """
    points = 40_001 if len(mean) == 1 else 241
    axes = [np.linspace(low, high, points) for low, high in target.reach]
    at = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    with np.errstate(divide="ignore"):  # log of zero at the ends of the support
        p = np.exp(target.log_g(at) - target.log_evidence)
    gap = np.abs(p - np.exp(log_density(at, mean, covariance)))
    for x in reversed(axes):
        gap = np.trapezoid(gap, x)
    sd = np.sqrt(np.diag(covariance))
    low, high = target.support.T
    outside = (ndtr((low - mean) / sd) + ndtr((mean - high) / sd)).sum()
    return float((gap + outside) / 2), float(outside)


class AboutMode(NamedTuple):
    """Distance of the log of a density from its parabola, at distances in standard deviations."""

    direction: Floats  # (K,) in degrees
    log_error: Floats  # (K, R) at distances (R,)


def about_mode(p: Target, covariance: Floats, distances: Floats) -> AboutMode:
    """Compare the Gaussian N(mode, covariance) with the density in all directions."""
    D, L = len(p.mode), np.linalg.cholesky(covariance)
    turn = np.linspace(0, 2 * np.pi, 120 if D == 2 else 2, endpoint=False)
    u = np.stack([np.cos(turn), np.sin(turn)], axis=-1)[:, :D]
    with np.errstate(divide="ignore", invalid="ignore"):  # off the support
        log_p = p.log_g(p.mode + (distances[:, None] * u[:, None]) @ L.T) - p.log_g(p.mode)
    return AboutMode(np.degrees(turn), np.abs(log_p + distances**2 / 2))
