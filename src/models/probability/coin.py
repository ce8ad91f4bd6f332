r"""A coin of unknown bias: binomial likelihood and beta prior (FCML 3.1-3.4).

    P(Y = y | r) = C(N, y) r^y (1 - r)^(N - y)                                                   3.2
    p(r)         = r^(alpha - 1) (1 - r)^(beta - 1) / B(alpha, beta)                             3.4
    p(r | y_N)   = the same with alpha + y_N and beta + N - y_N                                  3.6
    E{P(Y = y | r)} = C(N, y) B(alpha + y, beta + N - y) / B(alpha, beta)                 3.10, 3.14

The last line is the beta-binomial distribution. Under a posterior it predicts the tosses to come;
under the prior it is the marginal likelihood of the tosses seen. (3.6 is printed with an exponent
of 1 - r that is too large by one.) All functions broadcast over counts and parameters.

Expectations are also available by quadrature: with r = 1 / (1 + e^-u) the beta density is smooth on
the whole line with exponential tails, and the trapezoidal rule in u is accurate to about the last
digit.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import (
    betainc,
    betaln,
    expit,
    gammaln,
    log_expit,
    polygamma,
    psi,
    xlog1py,
    xlogy,
)

from bythebook.models.types import Floats, Ints

Numbers = Floats | Ints | Sequence[float] | float


class Beta(NamedTuple):
    """A belief p(r) = Beta(alpha, beta) about the probability r of a head."""

    alpha: Floats  # (...) heads, real or imagined
    beta: Floats  # (...) tails


def update(prior: Beta, heads: Numbers, tosses: Numbers) -> Beta:
    """The posterior after some heads in some tosses."""
    y, N = np.asarray(heads, dtype=np.float64), np.asarray(tosses, dtype=np.float64)
    return Beta(prior.alpha + y, prior.beta + N - y)  # FCML 3.6


def log_density(belief: Beta, r: Numbers) -> Floats:
    """The log of p(r)."""
    a, b = belief
    with np.errstate(divide="ignore"):  # parameters below one have poles at the ends
        return np.asarray(xlogy(a - 1, r) + xlog1py(b - 1, -np.asarray(r)) - betaln(a, b))  # 3.4


def mean(belief: Beta) -> Floats:
    """E{r}."""
    a, b = belief
    return np.asarray(a / (a + b))  # FCML 3.3.1


def variance(belief: Beta) -> Floats:
    """var{r}."""
    a, b = belief
    return np.asarray(a * b / ((a + b) ** 2 * (a + b + 1)))  # FCML 3.7


def mass(belief: Beta, low: float, high: float) -> Floats:
    """P(low < r < high)."""
    return np.asarray(betainc(*belief, high) - betainc(*belief, low))


def log_binomial(heads: Numbers, tosses: Numbers, r: Numbers) -> Floats:
    """Log of P(Y = heads | r), also the log likelihood of r."""
    y, N = np.asarray(heads, dtype=np.float64), np.asarray(tosses, dtype=np.float64)
    log_choices = gammaln(N + 1) - gammaln(y + 1) - gammaln(N - y + 1)
    return np.asarray(log_choices + xlogy(y, r) + xlog1py(N - y, -np.asarray(r)))  # FCML 3.2


def log_beta_binomial(heads: Numbers, tosses: Numbers, belief: Beta) -> Floats:
    """Log of E{P(Y = heads | r)}: a prior's marginal likelihood, a posterior's prediction."""
    y, N = np.asarray(heads, dtype=np.float64), np.asarray(tosses, dtype=np.float64)
    after = update(belief, y, N)
    log_choices = gammaln(N + 1) - gammaln(y + 1) - gammaln(N - y + 1)
    return np.asarray(log_choices + betaln(*after) - betaln(*belief))  # FCML 3.10, 3.14


def win_probability(r: Numbers, tosses: int, at_most: int) -> Floats:
    """P(Y <= at_most | r): the bet of FCML 3.1 for known r."""
    return np.asarray(betainc(tosses - at_most, at_most + 1, 1 - np.asarray(r)))  # sum of 3.2


def expected_win_probability(belief: Beta, tosses: int, at_most: int) -> Floats:
    """E{P(Y <= at_most | r)}: the same bet averaged over the belief about r."""
    lost = np.arange(at_most + 1, tosses + 1)
    spread = Beta(np.asarray(belief.alpha)[..., None], np.asarray(belief.beta)[..., None])
    return np.asarray(1 - np.exp(log_beta_binomial(lost, tosses, spread)).sum(-1))  # FCML 3.9


def expectation(f: Callable[[Floats], Floats], belief: Beta, points: int = 801) -> Floats:
    """E{f(r)} by quadrature; f maps r (..., points) to values of that shape."""
    a, b = (np.asarray(part, dtype=np.float64)[..., None] for part in belief)
    sd = np.sqrt(polygamma(1, a) + polygamma(1, b))  # of the log odds u
    u = psi(a) - psi(b) + 40 * sd * np.linspace(-1, 1, points)
    log_weight = a * log_expit(u) + b * log_expit(-u)
    weight = np.exp(log_weight - log_weight.max(-1, keepdims=True))
    return np.asarray((weight * f(expit(u))).sum(-1) / weight.sum(-1))


def best_prior(heads: int, tosses: int, alpha_max: float, beta_max: float) -> Beta:
    """The prior with the highest marginal likelihood, its parameters bounded (FCML 3.4.1).

    It grows along the ray that points at the observed share of heads (the prior concentrates at
    that r), so the best prior is on one of the two far edges of the box.
    """

    def minus_log(alpha: float, beta: float) -> float:
        belief = Beta(np.array(alpha), np.array(beta))
        return -float(log_beta_binomial(heads, tosses, belief))  # FCML 3.14

    def along(edge: Callable[[float], tuple[float, float]], end: float) -> tuple[float, float]:
        found = minimize_scalar(
            lambda x: minus_log(*edge(x)), bounds=(0, end), options={"xatol": 1e-9}
        )
        return edge(min((float(found.x), end), key=lambda x: minus_log(*edge(x))))

    edges = along(lambda x: (alpha_max, x), beta_max), along(lambda x: (x, beta_max), alpha_max)
    alpha, beta = min(edges, key=lambda point: minus_log(*point))
    return Beta(np.array(alpha), np.array(beta))
