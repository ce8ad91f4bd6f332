r"""A Gaussian cut at the origin (FCML comment 7.3).

    N+(x | mu, s2) = N(x | mu, s2) / Phi(mu / s)       x > 0
    N-(x | mu, s2) = N(x | mu, s2) / Phi(-mu / s)      x < 0

    <x>+ = mu + s phi(mu / s) / Phi(mu / s),           <x>- = mu - s phi(mu / s) / Phi(-mu / s)

The comment prints the means without the factor s, which is right for s = 1 alone. `side` is +1 or
-1; both cases are then one, with t = side mu / s.
"""

import numpy as np
from scipy.special import erfcx, log_ndtr

from bythebook.models.regression.curves import quadrature
from bythebook.models.types import Floats

FAR = 12.0  # standard deviations, beyond which the mass underflows in double precision


def hazard(t: Floats | float) -> Floats:
    """The ratio phi(t) / Phi(t), elementwise; no underflow for very negative t."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2)))


def mean(mu: Floats | float, s: Floats | float, side: Floats | float) -> Floats:
    """Expected value of the truncated Gaussian, elementwise."""
    return np.asarray(mu + side * s * hazard(side * mu / s))


def mean_as_printed(mu: Floats | float, s: Floats | float, side: Floats | float) -> Floats:
    """The mean as the comment prints it, without the factor s."""
    return np.asarray(mu + side * hazard(side * mu / s))


def density(x: Floats, mu: float, s: float, side: float) -> Floats:
    """The density at points x, zero on the other side of the origin; whole if there is no side."""
    log_p = -(((x - mu) / s) ** 2) / 2 - np.log(s * np.sqrt(2 * np.pi))
    if side == 0:
        return np.asarray(np.exp(log_p))
    return np.where(side * x > 0, np.exp(log_p - log_ndtr(side * mu / s)), 0.0)


def normal_integral(z: float) -> tuple[float, float]:
    """The probit function at z by quadrature: as FCML 7.7.1 prints it, and with 1/sqrt(2 pi)."""
    rule = quadrature(-FAR, z, 400)
    printed = (z + FAR) * float(rule.weight @ np.exp(-(rule.x**2) / 2))
    return printed, printed / float(np.sqrt(2 * np.pi))


def mass_above(mu: float, s: float) -> float:
    """The probability that a Gaussian is positive, by quadrature of its density."""
    top = max(mu, 0.0) + FAR * s
    rule = quadrature(0.0, top, 400)
    return top * float(rule.weight @ density(rule.x, mu, s, 0))
