"""Clusters hidden in noise: knobs of the data that the studies of this topic share."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.study import knob
from bythebook.models.types import Floats, Ints

SQUARE = [[0.0, 0.0], [5.0, 5.0], [5.0, 0.0], [0.0, 5.0]]


@dataclass
class HiddenClusters:
    """Knobs of the data: round clusters in the first variables, noise in the others. A base."""

    centres: list[list[float]] = knob(SQUARE, "centres of the clusters in the first variables")
    n_each: int = knob(20, "objects in a cluster", at_least=2, at_most=10_000)
    noise_dimensions: int = knob(5, "further variables, standard normal", at_least=0, at_most=1000)
    repetitions: int = knob(200, "data sets", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if len({len(centre) for centre in self.centres}) > 1:
            yield f"study.centres={self.centres}; allowed: as many numbers in each"
        else:
            yield from self.rules()

    def rules(self) -> Iterator[str]:
        """Yield a message for each rule that the other knobs break."""
        yield from ()

    @property
    def labels(self) -> Ints:
        """The cluster of each object, shape (N,)."""
        return np.repeat(np.arange(len(self.centres)), self.n_each)

    def objects(self, rng: Generator) -> Floats:
        """Data sets, shape (repetitions, N, M)."""
        M = len(self.centres[0])
        shape = (self.repetitions, len(self.labels), M + self.noise_dimensions)
        Y = rng.standard_normal(shape)
        Y[..., :M] += np.array(self.centres)[self.labels]
        return Y
