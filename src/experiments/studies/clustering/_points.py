"""Points to be clustered: the knobs that many studies share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.study import knob
from bythebook.models.datasets import load
from bythebook.models.types import Floats


@dataclass
class Clusters:
    """Knobs of the data: a data set, or round clusters drawn about given centres. A base."""

    data: str | None = knob("old-faithful", "the points to cluster", dataset="points")
    standardise: bool = knob(True, "rescale each variable to mean 0 and standard deviation 1")
    centres: list[list[float]] = knob(
        [], "centres of round clusters that are drawn instead of data", may_be_empty=True
    )
    spread: float = knob(0.5, "standard deviation of a drawn cluster", above=0)
    n_each: int = knob(60, "points in each drawn cluster", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if (self.data is None) == (not self.centres):
            yield f"study.data={self.data}, study.centres={self.centres}; allowed: exactly one"
            return
        found = list(place_problems("centres", self.centres, len((self.centres or [[]])[0])))
        yield from found or self.rules()

    def rules(self) -> Iterator[str]:
        """Yield a message for each rule that the data break."""
        yield from ()

    @property
    def size(self) -> tuple[int, int]:
        """Points and variables."""
        if self.data is None:
            return self.n_each * len(self.centres), len(self.centres[0])
        rows, columns = load(self.data).matrix.shape
        return rows, columns

    def points(self, rng: Generator) -> Floats:
        """The data, shape (N, D)."""
        if self.data is None:
            where = np.repeat(np.array(self.centres), self.n_each, axis=0)
            X = where + self.spread * rng.standard_normal(where.shape)
        else:
            X = load(self.data).matrix
        return standardised(X) if self.standardise else X


def standardised(X: Floats) -> Floats:
    """Each column with mean 0 and standard deviation 1 (over N, not N - 1)."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def place_problems(
    name: str, places: list[list[float]], dimension: int, count: int = 0
) -> Iterator[str]:
    """Problems of points that need `dimension` coordinates, and the right number if any."""
    if any(len(place) != dimension for place in places):
        yield f"study.{name}={places}: each entry needs {dimension} numbers"
    if places and count and len(places) != count:
        yield f"study.{name} has {len(places)} entries; study.k={count}"
