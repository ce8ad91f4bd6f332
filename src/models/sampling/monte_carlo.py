r"""Expectations under a density, exactly and by sampling (FCML 2.4 and 2.5.1, PRML 11).

    E{f(y)} = int f(y) p(y) dy  ~  1/S sum_s f(y_s),   y_s ~ U(a, b)               FCML 2.22-2.23

    E{y^2} = (b^3 - a^3) / (3 (b - a)),    E{sin y} = (cos a - cos b) / (b - a)

The error of the average of S independent samples has the standard deviation sqrt(var f / S)
(PRML 11.3), for any number of dimensions. Further expectations:

    projection   f(z) = (sum_d z_d)^2 / D, z ~ N(0, I) in D dimensions: mean 1 and variance 2;
                 successive z may have a correlation
    tails        whether a standard Gaussian number lies below 1, or above 3
    evidence     the likelihood under draws of the prior (Ghahramani 57-58), of a coin with
                 7 heads in 10 tosses and of a line through five points
    double 20    whether a dart aimed at the middle of the double 20 hits, y ~ N(aim, sd^2 I) in
                 millimetres (FCML 4.16): the mean is the probability P, the variance P (1 - P)
    quarter      whether a point of the unit square lies within the quarter circle: P = pi / 4
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import beta, ndtr

from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Bools, Floats


class Expectation(NamedTuple):
    """A function f of random points, with its exact mean and variance."""

    f: Callable[[tuple[int, int], np.random.Generator], Floats]
    mean: float
    variance: float


class Integrand(NamedTuple):
    """A function, and its first two moments under U(a, b)."""

    f: Callable[[Floats], Floats]
    mean: Callable[[float, float], float]  # E{f}
    square: Callable[[float, float], float]  # E{f^2}


def _power(k: int, a: float, b: float) -> float:
    return (b ** (k + 1) - a ** (k + 1)) / ((k + 1) * (b - a))


def _sine(a: float, b: float) -> float:
    return float((np.cos(a) - np.cos(b)) / (b - a))


def _sine_squared(a: float, b: float) -> float:
    return float(0.5 - (np.sin(2 * b) - np.sin(2 * a)) / (4 * (b - a)))


INTEGRANDS = {
    "square": Integrand(np.square, lambda a, b: _power(2, a, b), lambda a, b: _power(4, a, b)),
    "sine": Integrand(np.sin, _sine, _sine_squared),
}


def under_uniform(integrand: Integrand, low: float, high: float) -> Expectation:
    """Expectation of an integrand, y uniform between two numbers."""

    def f(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        return integrand.f(rng.uniform(low, high, shape))

    mean = integrand.mean(low, high)
    return Expectation(f, mean, integrand.square(low, high) - mean**2)


def running_mean(values: Floats) -> Floats:
    """The average of the first S values for every S, along the last axis."""
    return np.asarray(np.cumsum(values, axis=-1) / np.arange(1, values.shape[-1] + 1))  # FCML 2.23


BATCH = 2_000_000  # numbers drawn at a time


def projection(dimension: int, correlation: float) -> Expectation:
    """The square of the component along the diagonal, of a chain of Gaussian points."""

    def f(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        rows, columns = shape
        several = max(1, BATCH // (columns * dimension))
        found = np.empty(shape)
        for start in range(0, rows, several):
            count = min(several, rows - start)
            z = rng.standard_normal((count, columns, dimension))
            for s in range(1, columns if correlation else 0):
                z[:, s] = correlation * z[:, s - 1] + np.sqrt(1 - correlation**2) * z[:, s]
            found[start : start + count] = z.sum(-1) ** 2 / dimension
        return found

    return Expectation(f, 1.0, 2.0)


def tails() -> dict[str, Expectation]:
    """A probability where the density is large, and one where it is small."""
    below, above = float(ndtr(1.0)), float(ndtr(-3.0))
    return {
        "z < 1": Expectation(
            lambda shape, rng: (rng.standard_normal(shape) < 1).astype(float),
            below,
            below * (1 - below),
        ),
        "z > 3": Expectation(
            lambda shape, rng: (rng.standard_normal(shape) > 3).astype(float),
            above,
            above * (1 - above),
        ),
    }


HEADS, TOSSES = 7, 10
X = np.stack([np.ones(5), np.linspace(-1, 1, 5)], axis=1)  # a line through five points
T = np.array([-0.9, 0.1, 0.3, 0.7, 1.6])
NOISE = 0.5  # variance


def evidences() -> dict[str, Expectation]:
    """Likelihoods under draws of the prior: of one order of the tosses, and of the points."""

    def coin(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        r = rng.random(shape)
        return np.asarray(r**HEADS * (1 - r) ** (TOSSES - HEADS))

    def line(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        w = rng.standard_normal((*shape, 2))
        squares = ((T - w @ X.T) ** 2).sum(-1)
        return np.asarray(np.exp(-squares / (2 * NOISE)) / (2 * np.pi * NOISE) ** (len(T) / 2))

    misses = TOSSES - HEADS
    mean = float(beta(HEADS + 1, misses + 1))
    square = float(beta(2 * HEADS + 1, 2 * misses + 1))
    found = {"coin": Expectation(coin, mean, square - mean**2)}
    zero, spread, one = np.zeros(len(T)), X @ X.T, np.eye(len(T))
    # a squared Gaussian likelihood is one of half the variance, times a constant
    mean = float(np.exp(log_density(T[None], zero, spread + NOISE * one)[0]))
    half = float(np.exp(log_density(T[None], zero, spread + NOISE / 2 * one)[0]))
    square = half / (4 * np.pi * NOISE) ** (len(T) / 2)
    found["line"] = Expectation(line, mean, square - mean**2)
    return found


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
