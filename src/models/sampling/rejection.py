r"""Rejection sampling of one variable, and of products of it (PRML 11.1.2 and 11.1.3).

    z0 ~ q,   u0 ~ U(0, k q(z0)),   z0 is kept if u0 <= p~(z0)
    P(kept) = 1/k int p~(z) dz                                                       PRML 11.14

Pairs of a target p~ and a proposal q that is normalised:

    bumps d     exp(-(z - d)^2 / 2) + exp(-(z + d)^2 / 2) under N(0, 1 + d^2)
    cauchy s    exp(-z^2 / (2 s^2)) under a Cauchy density of width s
    gamma a     Gam(z | a, 1) under a Cauchy density at c = a - 1 of width b, b^2 = 2a - 1
    wider r     N(0, 1) under N(0, r^2), r >= 1                                       PRML 11.1.3
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import cumulative_simpson, quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln, ndtr, ndtri, xlogy

from models.sampling.targets import bumps
from models.types import Bools, Floats

Rng = np.random.Generator
GRID = 4001


class Pair(NamedTuple):
    """A target and a proposal of one variable; all functions take arrays of any shape."""

    log_target: Callable[[Floats], Floats]
    log_proposal: Callable[[Floats], Floats]
    quantile: Callable[[Floats], Floats]  # of the proposal: uniform numbers into draws
    proposal_cdf: Callable[[Floats], Floats]
    reach: tuple[float, float]  # hardly anything of the target lies beyond


class Tried(NamedTuple):
    """Candidates (..., D), which of them were kept, and how high u0 lay below the target."""

    z: Floats
    kept: Bools  # (...)
    height: Floats  # (...) u0 over the target there: uniform for those kept


def named(name: str) -> Pair:
    """The pair of a name, such as `gamma 3`."""
    kind, _, number = name.partition(" ")
    if kind not in PAIRS:
        raise ValueError(f"{name}; allowed: {', '.join(PAIRS)}, with a number")
    make, low = PAIRS[kind]
    try:
        parameter = float(number)
    except ValueError:
        raise ValueError(f"{name}; allowed: {kind} and a number") from None
    if not low <= parameter <= 1000:
        raise ValueError(f"{name}; allowed: {kind} with a number from {low:g} to 1000")
    return make(parameter)


def two_bumps(d: float) -> Pair:
    """Two Gaussians under one that has their variance."""
    target, width = bumps(d), np.sqrt(1 + d**2)
    return Pair(
        lambda z: target.log_p(z[..., None]),
        lambda z: -((z / width) ** 2) / 2 - np.log(width * np.sqrt(2 * np.pi)),
        lambda u: width * ndtri(u),
        lambda z: ndtr(z / width),
        (-d - 12, d + 12),
    )


def gaussian_under_cauchy(s: float) -> Pair:
    """A Gaussian that is not normalised."""
    return Pair(lambda z: -((z / s) ** 2) / 2, *cauchy(0.0, s), (-14 * s, 14 * s))


def gamma_under_cauchy(a: float) -> Pair:
    """With the printed place and width of the Cauchy density."""
    far = a + 12 * np.sqrt(a) + 40
    return Pair(lambda z: log_gamma(z, a), *cauchy(a - 1, float(np.sqrt(2 * a - 1))), (0.0, far))


def under_wider(r: float) -> Pair:
    """Two Gaussians, both normalised."""
    log_root = np.log(2 * np.pi) / 2
    return Pair(
        lambda z: -(z**2) / 2 - log_root,
        lambda z: -((z / r) ** 2) / 2 - np.log(r) - log_root,
        lambda u: r * ndtri(u),
        lambda z: ndtr(z / r),
        (-14.0, 14.0),
    )


PAIRS: dict[str, tuple[Callable[[float], Pair], float]] = {
    "bumps": (two_bumps, 0.1),
    "cauchy": (gaussian_under_cauchy, 0.01),
    "gamma": (gamma_under_cauchy, 1.01),
    "wider": (under_wider, 1.0),
}


def log_gamma(z: Floats, a: float) -> Floats:
    """The gamma density of rate one (PRML 11.15)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = xlogy(a - 1, z) - z - gammaln(a)
    return np.where(z > 0, inside, -np.inf)


def cauchy(
    c: float, b: float
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """Log density (PRML 11.16), quantiles and distribution function, at c and of width b."""
    return (
        lambda z: -np.log(np.pi * b * (1 + ((z - c) / b) ** 2)),
        lambda u: b * np.tan(np.pi * (u - 0.5)) + c,
        lambda z: 0.5 + np.arctan((z - c) / b) / np.pi,
    )


def tangent_of_unit(pair: Pair, u: Floats) -> Floats:
    """The value b tan u + c with u in (0, 1), as Exercise 11.7 has it."""
    c = pair.quantile(np.array(0.5))
    b = pair.quantile(np.array(0.75)) - c
    return np.asarray(b * np.tan(u) + c)


def area(pair: Pair) -> float:
    """Under the target, by quadrature."""
    low, high = pair.reach
    places = np.linspace(low, high, 9)
    return float(
        sum(
            quad(lambda z: np.exp(pair.log_target(np.array(z))), a, b, epsabs=1e-13, limit=200)[0]
            for a, b in pairwise(places)
        )
    )


def log_smallest_k(pair: Pair) -> float:
    """The log of the largest ratio of target to proposal, by a search."""
    z = np.linspace(*pair.reach, GRID)[1:-1]
    best = int(np.argmax(pair.log_target(z) - pair.log_proposal(z)))
    step = z[1] - z[0]
    found = minimize_scalar(
        lambda x: float(pair.log_proposal(np.array(x)) - pair.log_target(np.array(x))),
        bounds=(z[best] - step, z[best] + step),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(-found.fun)


def excess(pair: Pair, log_k: float) -> float:
    """The most by which the log of the target exceeds that of k q, on a fine grid."""
    z = np.linspace(*pair.reach, 10 * GRID + 7)[1:-1]
    return float((pair.log_target(z) - pair.log_proposal(z)).max() - log_k)


def distribution(pair: Pair) -> Callable[[Floats], Floats]:
    """The distribution function of the target, by quadrature on a grid."""
    low, high = pair.reach
    z = low + (high - low) * np.linspace(0, 1, 4 * GRID) ** (2 if low == 0 else 1)
    below = cumulative_simpson(np.exp(pair.log_target(z)), x=z, initial=0)
    return lambda x: np.interp(x, z, below / below[-1])


def tries(pair: Pair, log_k: float, shape: tuple[int, ...], rng: Rng) -> Tried:
    """Candidates of shape (..., D): of a product of D targets, with k for all of them together."""
    z = pair.quantile(rng.random(shape))
    log_p, log_kq = pair.log_target(z).sum(-1), pair.log_proposal(z).sum(-1) + log_k
    log_u = log_kq + np.log1p(-rng.random(shape[:-1]))
    with np.errstate(invalid="ignore", over="ignore"):
        height = np.exp(np.minimum(log_u - log_p, 1.0))
    return Tried(z, log_u <= log_p, height)


def best_cauchy(a: float, at_mode: bool) -> tuple[float, float, float]:
    """For a gamma density: the most that is kept, over places c and widths b; c and b.

    Every c and b has its own smallest k. With `at_mode` only b varies, and c = a - 1.
    """

    def place(x: Floats) -> tuple[float, float]:
        return (a - 1 if at_mode else float(x[1])), float(np.exp(x[0]))

    def log_k(x: Floats) -> float:
        c, b = place(x)
        # where the ratio is stationary: (a - 1 - z) (b^2 + (z - c)^2) + 2 z (z - c) = 0
        cubic = Polynomial([a - 1, -1]) * Polynomial([b**2 + c**2, -2 * c, 1])
        z = (cubic + Polynomial([0, -2 * c, 2])).roots().real
        return float(np.max(log_gamma(z, a) - cauchy(c, b)[0](z)))

    start = np.array([np.log(2 * a - 1) / 2] + [a - 1] * (not at_mode))
    found = minimize(
        log_k, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 800}
    )
    return float(np.exp(-found.fun)), *place(found.x)


def maxima(pair: Pair) -> int:
    """How many times the target rises and then falls, on a fine grid within its reach."""
    low, high = pair.reach
    z = low + (high - low) * np.linspace(0, 1, GRID) ** 3  # finer at the lower end
    rises = np.diff(pair.log_target(z[1:])) > 0
    return int((rises[:-1] & ~rises[1:]).sum())


def growth(width: float, reach: float = 20.0) -> float:
    """By how much the largest ln p / q of Gaussians grows if |z| may be twice as large."""
    log_ratio = [
        np.max(-(z**2) / 2 + (z / width) ** 2 / 2)
        for z in (np.linspace(0, reach, GRID), np.linspace(0, 2 * reach, GRID))
    ]
    return float(log_ratio[1] - log_ratio[0])
