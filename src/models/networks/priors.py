"""Functions drawn from a network's prior, and the effect of each precision (MLAPP 16.79)."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.networks.neural_network import per_layer, predict, sample_prior
from bythebook.models.types import Floats


class Precisions(NamedTuple):
    """Precisions of weights and biases of both layers."""

    v: float
    b: float
    w: float
    c: float

    def over(self, name: str, factor: float) -> "Precisions":
        """The precisions with one of them divided by a factor; any other name changes nothing."""
        return self._replace(**{name: getattr(self, name) / factor}) if name in "vbwc" else self


class Shapes(NamedTuple):
    """Summaries of functions on a grid, each a number for many draws."""

    steepness: float  # median of the largest slope, in units of the function's own range
    centre_spread: float  # interquartile range of the place of the largest slope
    sensitivity: float  # median of the mean absolute slope
    dynamic_range: float  # median of the range
    level_spread: float  # standard deviation of the mean over the inputs


def draw_functions(alpha: Precisions, hidden: int, x: Floats, n: int, rng: Generator) -> Floats:
    """Functions (n, len(x)) of one input and one output."""
    sizes = (1, hidden, 1)
    precision = per_layer(sizes, (alpha.v, alpha.w), (alpha.b, alpha.c))
    theta = sample_prior(precision, n, rng)
    return predict(theta, sizes, x[:, None])[..., 0]


def shapes(x: Floats, f: Floats) -> Shapes:
    """Summaries of the shapes of functions (n, len(x))."""
    slope = np.abs(np.diff(f, axis=1) / np.diff(x))
    size = np.ptp(f, axis=1)
    centre = x[slope.argmax(1)]
    return Shapes(
        float(np.median(slope.max(1) / size)),
        float(np.subtract(*np.quantile(centre, [0.75, 0.25]))),
        float(np.median(slope.mean(1))),
        float(np.median(size)),
        float(f.mean(1).std()),
    )
