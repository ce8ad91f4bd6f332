r"""The probability of landing in a region: the share of random points inside (FCML 4.5.1).

    P(T = 1) = E{f(y)} = int f(y) p(y) dy  ~  1/S sum_s f(y_s)                    FCML 4.16

f is one inside the region and zero outside, so the average is the proportion of hits, and its
standard deviation is sqrt(P (1 - P) / S).

    double 20        a dart aimed at the middle of the double 20, y ~ N(aim, sd^2 I) in millimetres
    quarter circle   y uniform on the unit square, inside if y^T y <= 1: P = pi / 4
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from bythebook.models.sampling.monte_carlo import Expectation
from bythebook.models.types import Bools, Floats

INNER, OUTER, HALF_ANGLE = (
    162.0,
    170.0,
    np.pi / 20,
)  # the double ring in mm; a segment is 18 degrees
AIM = np.array([0.0, (INNER + OUTER) / 2])


class Game(NamedTuple):
    """Distribution of the points, the region, and its probability."""

    throw: Callable[[tuple[int, ...], np.random.Generator], Floats]  # shape (..., 2)
    hit: Callable[[Floats], Bools]
    probability: float


def double_twenty(sd: float) -> Game:
    """A thrower who misses the aim by `sd` millimetres each way."""
    return Game(
        lambda shape, rng: AIM + sd * rng.standard_normal((*shape, 2)),
        _in_double_twenty,
        _double_twenty_probability(sd),
    )


def quarter_circle() -> Game:
    """Points on the unit square; four times the share of hits estimates pi."""
    return Game(
        lambda shape, rng: rng.random((*shape, 2)), lambda y: (y**2).sum(-1) <= 1, np.pi / 4
    )


def hits(game: Game) -> Expectation:
    """One for a hit, zero for a miss."""

    def f(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        return game.hit(game.throw(shape, rng)).astype(np.float64)

    return Expectation(f, game.probability, game.probability * (1 - game.probability))


def _in_double_twenty(y: Floats) -> Bools:
    radius = np.hypot(y[..., 0], y[..., 1])
    angle = np.arctan2(y[..., 0], y[..., 1])  # from the vertical, where the 20 is
    return np.asarray((radius > INNER) & (radius < OUTER) & (np.abs(angle) < HALF_ANGLE))


def _double_twenty_probability(sd: float, pieces: int = 40) -> float:
    """The integral of the density over the region in polar coordinates, by Gauss-Legendre."""
    node, weight = leggauss(20)

    def rule(low: float, high: float) -> tuple[Floats, Floats]:
        edges = np.linspace(low, high, pieces + 1)
        half = np.diff(edges)[:, None] / 2
        return (edges[:-1, None] + half * (node + 1)).ravel(), (half * weight).ravel()

    (r, weight_r), (angle, weight_angle) = rule(INNER, OUTER), rule(-HALF_ANGLE, HALF_ANGLE)
    y = np.stack([np.outer(r, np.sin(angle)), np.outer(r, np.cos(angle))], axis=-1)
    density = np.exp(-((y - AIM) ** 2).sum(-1) / (2 * sd**2)) / (2 * np.pi * sd**2)
    return float((weight_r * r) @ density @ weight_angle)
