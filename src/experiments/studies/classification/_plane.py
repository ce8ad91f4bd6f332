"""Points of the plane: a grid for maps, clouds that are drawn, labelled points as quantities."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Axis, Quantity, axis, over
from models.types import AnyArray, Floats


def mesh(low: Sequence[float], high: Sequence[float], step: float) -> tuple[Axis, Axis, Floats]:
    """Axes x1 and x2, and the points of the grid they span, shape (len(x2), len(x1), 2)."""
    x1, x2 = (
        axis(name, np.linspace(a, b, round((b - a) / step) + 1))
        for name, a, b in zip(("x1", "x2"), low, high, strict=True)
    )
    return x1, x2, np.stack(np.meshgrid(x1.values, x2.values), axis=-1)


def clouds(
    centres: Sequence[Sequence[float]], sizes: Sequence[int], repetitions: int, rng: Generator
) -> Floats:
    """Sets of points (R, N, 2) in round clouds of unit variance, one cloud after the other."""
    where = np.repeat(np.array(centres), sizes, axis=0)
    return where + rng.standard_normal((repetitions, *where.shape))


def labelled(X: Floats, t: AnyArray) -> dict[str, Quantity]:
    """The points X (N, 2) and their classes t (N,)."""
    point = axis("point", len(t))
    return {"inputs": over(X, point, axis("attribute", [1, 2])), "label": point.of(t)}
