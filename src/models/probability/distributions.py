r"""Popular distributions of one variable (FCML 2.3 and 2.5).

    binomial   P(y) = (N choose y) q^y (1 - q)^(N - y)                             FCML 2.18
    poisson    P(y) = lambda^y e^-lambda / y!                                      FCML exercise 2.3
    uniform    p(y) = 1 / (b - a)                                                  FCML 2.24
    beta       p(r) = Gamma(a + b) / (Gamma(a) Gamma(b)) r^(a-1) (1 - r)^(b-1)     FCML 2.26
    gaussian   p(y) = exp(-(y - mu)^2 / (2 s^2)) / sqrt(2 pi s^2)                  FCML 2.27
    truncated  the same on one side of the origin or (side 0) on the whole line    FCML comment 7.3

and `categorical`, whose outcomes 1, 2, ... have the probabilities given. Expectations (2.12, 2.22)
are sums over the outcomes, or integrals by Gauss-Legendre quadrature over the support; an
infinite support is cut where the probability beyond is below 1e-15.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import betainc, betaln, gammaln, xlog1py, xlogy

from bythebook.models.probability import truncated_gaussian
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.types import Floats

_PIECES, _NODES = 64, 16  # of the quadrature: a composite rule, for densities with narrow peaks
_GRADE = 4.0  # how slowly the nodes leave the ends of the support


class Law(NamedTuple):
    """A distribution tabulated at the nodes of its expectations: E{f} = sum_i weight_i f(x_i)."""

    x: Floats  # (G,) outcomes, or nodes of the quadrature
    log_p: Floats  # (G,) log probabilities, or log densities
    weight: Floats  # (G,) probabilities, or density times quadrature weight


def log_binomial(y: Floats, n: float, q: float) -> Floats:
    """Log of the probability of y successes in n trials."""
    choices = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
    return np.asarray(choices + xlogy(y, q) + xlog1py(n - y, -q))  # FCML 2.18


def log_poisson(y: Floats, rate: float) -> Floats:
    """Log of the probability of the count y."""
    return np.asarray(xlogy(y, rate) - rate - gammaln(y + 1))  # FCML exercise 2.3


def log_beta(r: Floats, a: float, b: float) -> Floats:
    """Log of the beta density."""
    return np.asarray(xlogy(a - 1, r) + xlog1py(b - 1, -r) - betaln(a, b))  # FCML 2.26


def log_uniform(y: Floats, a: float, b: float) -> Floats:
    """Log of the uniform density between a and b."""
    inside = (y >= a) & (y <= b)
    return np.where(inside, -np.log(b - a), -np.inf)  # FCML 2.24


def tabulate(family: str, parameters: Sequence[float]) -> Law:
    """A distribution by name, with its parameters in the order of the formulas above."""
    return _LAWS[family](*parameters)


def binomial(n: float, q: float) -> Law:
    y = np.arange(int(n) + 1.0)
    return _discrete(y, log_binomial(y, n, q))


def poisson(rate: float) -> Law:
    y = np.arange(np.ceil(rate + 10 * np.sqrt(rate) + 30))
    return _discrete(y, log_poisson(y, rate))


def categorical(*probabilities: float) -> Law:
    p = np.array(probabilities)
    with np.errstate(divide="ignore"):
        return _discrete(np.arange(1.0, len(p) + 1), np.log(p))


def uniform(a: float, b: float) -> Law:
    return _continuous(lambda y: log_uniform(y, a, b), a, b)


def beta(a: float, b: float) -> Law:
    return _continuous(lambda r: log_beta(r, a, b), 0.0, 1.0)


def gaussian(mean: float, variance: float) -> Law:
    reach = 9 * np.sqrt(variance)
    return _continuous(lambda y: log_density_1d(y, mean, variance), mean - reach, mean + reach)


def truncated(mean: float, sd: float, side: float) -> Law:
    reach = abs(mean) + 12 * sd
    ends = (0.0, reach) if side > 0 else (-reach, 0.0) if side < 0 else (mean - reach, mean + reach)
    return _continuous(lambda y: np.log(truncated_gaussian.density(y, mean, sd, side)), *ends)


def bernoulli_information(q: Floats) -> Floats:
    """The Fisher information of q in one toss (FCML exercise 2.13)."""
    return np.asarray(1 / (q * (1 - q)))


def bernoulli_scores(x: Floats, q: Floats) -> Floats:
    """The derivative d ln P(x | q) / dq of outcomes 0 or 1."""
    return np.asarray((x - q) / (q * (1 - q)))  # FCML 2.17


def _discrete(outcomes: Floats, log_p: Floats) -> Law:
    return Law(outcomes, log_p, np.exp(log_p))


def _continuous(log_p: Callable[[Floats], Floats], low: float, high: float) -> Law:
    node, weight = leggauss(_NODES)
    half = 0.5 / _PIECES
    s = (half * (2 * np.arange(_PIECES)[:, None] + node + 1)).ravel()
    # x(s) leaves both ends slowly, so that a density's root or pole there causes no error
    x = low + (high - low) * betainc(_GRADE, _GRADE, s)
    stretch = (high - low) * np.exp(log_beta(s, _GRADE, _GRADE))
    values = log_p(x)
    return Law(x, values, np.exp(values) * stretch * half * np.tile(weight, _PIECES))


_LAWS: dict[str, Callable[..., Law]] = {
    "binomial": binomial,
    "poisson": poisson,
    "categorical": categorical,
    "uniform": uniform,
    "beta": beta,
    "gaussian": gaussian,
    "truncated": truncated,
}
DISCRETE = ("binomial", "poisson", "categorical")
FAMILIES = tuple(_LAWS)
