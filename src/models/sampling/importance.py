r"""Importance sampling and resampling of one variable (PRML 11.1.4 and 11.1.5).

With draws z_l of a proposal q and r~_l = p~(z_l) / q(z_l):

    E[f] ~ 1/L sum_l r_l f(z_l),   r_l = r~_l / Z_p                                   PRML 11.19
    Z_p  ~ 1/L sum_l r~_l                                                          PRML 11.21
    E[f] ~ sum_l w_l f(z_l),       w_l = r~_l / sum_m r~_m                       PRML 11.22-23

The effective size is 1 / sum_l w_l^2. L values resampled from the z_l with the weights w_l follow
p as L grows (PRML 11.25-26). Targets:

    gaussian    p~ = exp(-z^2 / 2)
    bumps d     p~ = exp(-z^2 / 2) + exp(-(z - d)^2 / 2): a proposal may miss the second one
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bythebook.models.types import Floats

Rng = np.random.Generator
ROOT = np.sqrt(2 * np.pi)
TAIL = 2.0  # f = tail: beyond this


class Target(NamedTuple):
    """An unnormalised density, with its known integral and moments."""

    log_p: Callable[[Floats], Floats]
    cdf: Callable[[Floats], Floats]
    partition: float
    square: float  # E[z^2]
    tail: float  # P(z > TAIL)


class Weighted(NamedTuple):
    """Estimates from L weighted draws, for batches (...); f is the square or the tail."""

    estimate: Floats  # (f, ...) PRML 11.19, with Z_p given
    normalised: Floats  # (f, ...) PRML 11.22
    plain: Floats  # (f, ...) without weights
    term_sd: Floats  # (f, ...) of r f
    partition: Floats
    effective_size: Floats
    largest_weight: Floats
    weight_sd: Floats  # of r


def gaussian() -> Target:
    """The standard Gaussian."""
    return Target(lambda z: -(z**2) / 2, ndtr, float(ROOT), 1.0, float(ndtr(-TAIL)))


def bumps(d: float) -> Target:
    """Two Gaussians, of which one may be far away."""
    return Target(
        lambda z: np.logaddexp(-(z**2) / 2, -((z - d) ** 2) / 2),
        lambda z: (ndtr(z) + ndtr(z - d)) / 2,
        2 * float(ROOT),
        1 + d**2 / 2,
        float(ndtr(-TAIL) + ndtr(d - TAIL)) / 2,
    )


def named(name: str) -> Target:
    """The target of a name."""
    kind, _, number = name.partition(" ")
    if kind == "gaussian" and not number:
        return gaussian()
    try:
        distance = float(number)
    except ValueError:
        distance = np.nan
    if kind != "bumps" or not 0 < distance <= 1000:
        raise ValueError(f"{name}; allowed: gaussian, or bumps with a distance up to 1000")
    return bumps(distance)


def proposal(name: str) -> tuple[float, float]:
    """Mean and standard deviation from a name such as `1 1.5`."""
    try:
        mean, sd = (float(word) for word in name.split())
    except ValueError:
        raise ValueError(f"{name}; allowed: a mean and a standard deviation") from None
    if not (np.isfinite(mean) and 0 < sd < np.inf):
        raise ValueError(f"{name}; allowed: a mean and a positive standard deviation")
    return mean, sd


def log_ratio(target: Target, mean: float, sd: float, z: Floats) -> Floats:
    """Log ratio ln r~ (...) of the target to the proposal's density."""
    return np.asarray(target.log_p(z) + ((z - mean) / sd) ** 2 / 2 + np.log(sd * ROOT))


FUNCTIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Target], float]]] = {
    "square": (np.square, lambda target: target.square),
    "tail": (lambda z: (z > TAIL).astype(float), lambda target: target.tail),
}


def weigh(target: Target, log_r: Floats, z: Floats, functions: list[str]) -> Weighted:
    """Estimates from draws z (..., L) and their ln r~."""
    ratio = np.exp(log_r)
    weights = normalised(log_r)
    r = ratio / target.partition
    f = np.stack([FUNCTIONS[name][0](z) for name in functions])
    return Weighted(
        estimate=(r * f).mean(-1),
        normalised=(weights * f).sum(-1),
        plain=f.mean(-1),
        term_sd=(r * f).std(-1),
        partition=ratio.mean(-1),
        effective_size=1 / (weights**2).sum(-1),
        largest_weight=weights.max(-1),
        weight_sd=r.std(-1),
    )


def normalised(log_r: Floats) -> Floats:
    """Weights that sum to one (PRML 11.23)."""
    shifted = np.exp(log_r - log_r.max(-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(-1, keepdims=True))


def resample(z: Floats, weights: Floats, u: Floats) -> Floats:
    """Resample z (R, L) with the weights, one value for each uniform number."""
    steps = np.cumsum(weights, axis=-1)
    rows = np.arange(len(z))[:, None]
    # one sorted list for all rows: row i has its steps between i and i + 1
    flat = (steps / steps[:, -1:] + rows).ravel()
    chosen = np.searchsorted(flat, u + rows, side="right")
    return np.asarray(z.ravel()[np.minimum(chosen, z.size - 1)])


def contributing(dimension: int, samples: int, repetitions: int, rng: Rng) -> Floats:
    """The smallest share of uniform samples that contributes nine tenths of the sum of p.

    p is a Gaussian in a cube of six standard deviations each way.
    """
    z = rng.uniform(-6, 6, (repetitions, samples, dimension))
    p = np.exp(-(z**2).sum(-1) / 2)
    ordered = np.sort(p, axis=-1)[:, ::-1]
    share = np.cumsum(ordered, axis=-1) / ordered.sum(-1, keepdims=True)
    return np.asarray(((share < 0.9).sum(-1) + 1) / samples)
