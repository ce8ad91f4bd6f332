"""Labelled points of the plane, from a file or drawn, and a map: knobs that studies share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.study import knob
from bythebook.models.datasets import load
from bythebook.models.types import Floats


@dataclass
class Map:
    """The region of the plane that is mapped. A base."""

    low: list[float] = knob([-3.0, -3.0], "smallest coordinates of the map")
    high: list[float] = knob([6.0, 6.0], "largest coordinates of the map")
    step: float = knob(0.2, "distance of the map's grid points", at_least=0.02, at_most=1)

    def problems(self) -> Iterator[str]:
        if len(self.low) != 2 or len(self.high) != 2:
            yield "study.low and study.high need two numbers"
        elif self.low[0] >= self.high[0] or self.low[1] >= self.high[1]:
            yield f"study.low={self.low}, study.high={self.high}; allowed: low < high"

    def grid(self) -> tuple[Floats, Floats, Floats]:
        """Values of x1 and of x2, and the points that they span, (len(x2), len(x1), 2)."""
        x1, x2 = (
            np.linspace(a, b, round((b - a) / self.step) + 1)
            for a, b in zip(self.low, self.high, strict=True)
        )
        return x1, x2, np.stack(np.meshgrid(x1, x2), axis=-1)


@dataclass
class Clouds:
    """Parameters of the points: a data set, or random clouds of unit variance. A base."""

    data: str | None = knob(
        None, "two attributes and the class of each point; null: clouds", dataset="classes"
    )
    centres: list[list[float]] = knob(
        [[0.0, 0.0], [3.0, 3.0]], "centres of clouds of unit variance"
    )
    sizes: list[int] = knob([50, 20], "points in each cloud", at_least=1, at_most=10_000)
    classes: list[int] = knob([0, 1], "the class of each cloud", choices=(0, 1))
    repetitions: int = knob(60, "sets of clouds; the first is drawn", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        found = list(self._clouds())
        yield from found or self.rules()

    def rules(self) -> Iterator[str]:
        """Yield a message for each rule that the points break."""
        yield from ()

    def _clouds(self) -> Iterator[str]:
        if any(len(centre) != 2 for centre in self.centres):
            yield "study.centres needs two numbers for each cloud"
        if not len(self.centres) == len(self.sizes) == len(self.classes):
            yield "study.centres, study.sizes and study.classes need an entry for each cloud"
        if len(set(self.classes)) < 2:
            yield f"study.classes={self.classes}; allowed: clouds of both classes"
        if self.data is not None and load(self.data).matrix.shape[1] != 3:
            yield f"study.data={self.data}; allowed: two attributes and a class"

    def points(self, rng: Generator) -> tuple[Floats, Floats]:
        """Sets of points (R, N, 2) and their classes (R, N): one set, if they are data."""
        if self.data is not None:
            table = load(self.data).matrix[None]
            return table[..., :2], table[..., 2]
        where = np.repeat(np.array(self.centres), self.sizes, axis=0)
        X = where + rng.standard_normal((self.repetitions, *where.shape))
        return X, np.tile(np.repeat(np.array(self.classes, float), self.sizes), (len(X), 1))


@dataclass
class Plane(Clouds, Map):
    """Points and a map. A base."""

    def problems(self) -> Iterator[str]:
        found = list(Map.problems(self))
        yield from found or Clouds.problems(self)


def distance(places: Floats, X: Floats) -> Floats:
    """Distance of places (..., 2) from the nearest of the points X (N, 2)."""
    return np.asarray(np.linalg.norm(places[..., None, :] - X, axis=-1).min(-1))
