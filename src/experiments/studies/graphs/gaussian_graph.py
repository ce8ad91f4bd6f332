"""Zeros of covariances and of their inverses (MLAPP 19.4.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.gaussian import conditional_covariance
from bythebook.models.types import Floats

CHAIN = {"chain": [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 3.0]}


@dataclass
class GaussianGraph(Study):
    """Inverses and conditional covariances of matrices (MLAPP 19.4.4)."""

    headline = {"largest_entry": "max(abs(inverse))"}
    quantities = {
        "matrix_entry": quantity("entry of the covariance matrix", "matrix row column"),
        "inverse": quantity("entry of the inverse of the covariance matrix", "matrix row column"),
        "conditional": quantity("covariance given all other variables", "matrix row column"),
    }
    axes = {
        "matrix": axis_of("matrix"),
        "row": axis_of("row"),
        "column": axis_of("column"),
    }

    matrices: dict[str, list[float]] = knob(
        {}, "square matrices by name, row by row, all of one size; none: a chain of three"
    )

    @property
    def given(self) -> dict[str, list[float]]:
        return self.matrices or CHAIN

    def problems(self) -> Iterator[str]:
        sizes = {len(entries) for entries in self.given.values()}
        if len(sizes) > 1 or round(min(sizes) ** 0.5) ** 2 != min(sizes):
            yield f"study.matrices: {sorted(sizes)} entries; allowed: all of one square number"
            return
        for name, matrix in zip(self.given, self._arrays(), strict=True):
            if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
                yield f"study.matrices: '{name}'; allowed: symmetric and positive definite"

    def _arrays(self) -> Floats:
        size = round(len(next(iter(self.given.values()))) ** 0.5)
        return np.array([np.reshape(entries, (size, size)) for entries in self.given.values()])

    def run(self, rng: Generator) -> Outcome:
        S = self._arrays()
        D = S.shape[-1]
        conditional = np.array(
            [[[conditional_covariance(s, i, j) for j in range(D)] for i in range(D)] for s in S]
        )
        inverse = np.linalg.solve(S, np.broadcast_to(np.eye(D), S.shape))
        number = np.arange(1, D + 1)
        return outcome(
            {"matrix": list(self.given), "row": number, "column": number},
            matrix_entry=("matrix row column", S),
            inverse=("matrix row column", inverse),
            conditional=("matrix row column", conditional),
        )
