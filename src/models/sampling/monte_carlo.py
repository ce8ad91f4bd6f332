r"""Expectations under a uniform density, exactly and by sampling (FCML 2.4 and 2.5.1).

    E{f(y)} = int f(y) p(y) dy  ~  1/S sum_s f(y_s),   y_s ~ U(a, b)               FCML 2.22-2.23

    E{y^2} = (b^3 - a^3) / (3 (b - a)),    E{sin y} = (cos a - cos b) / (b - a)

The error of the average of S samples has the standard deviation sqrt(var f / S).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from models.types import Floats


class Expectation(NamedTuple):
    """What is averaged: f of random points, with its exact mean and variance."""

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
    """Of an integrand, y uniform between two numbers."""

    def f(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        return integrand.f(rng.uniform(low, high, shape))

    mean = integrand.mean(low, high)
    return Expectation(f, mean, integrand.square(low, high) - mean**2)


def running_mean(values: Floats) -> Floats:
    """The average of the first S values for every S, along the last axis."""
    return np.asarray(np.cumsum(values, axis=-1) / np.arange(1, values.shape[-1] + 1))  # FCML 2.23
