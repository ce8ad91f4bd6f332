"""Undirected and directed graphs of Gaussian distributions (MLAPP 19.4.4; PRML 8.1.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.gaussian import conditional_covariance, moments
from bythebook.models.types import Floats

CHAIN = {"chain": [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 3.0]}


@dataclass
class GaussianGraph(Study):
    """Inverses and conditional covariances of matrices; moments of linear-Gaussian networks.

    A network's x_i is a weighted sum of its parents, a bias and noise; weights, biases and
    variances are drawn.
    """

    headline = {"least_eigenvalue": "min(eigenvalue)"}
    more_quantities = True
    quantities = {
        "eigenvalue": quantity("eigenvalues of a matrix", "matrix eigenvalue_number"),
    }

    matrices: dict[str, list[float]] = knob(
        {}, "square matrices by name, row by row, all of one size; none: a chain of three"
    )
    arrows: list[str] = knob(
        [], "of a network: '1 -> 2', from lower to higher", may_be_empty=True, distinct=True
    )
    draws: int = knob(50, "draws of the network's parameters", at_least=1, at_most=10_000)

    @property
    def given(self) -> dict[str, list[float]]:
        return self.matrices or CHAIN

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(int(a), int(b)) for a, b in (text.split("->") for text in self.arrows)]

    def problems(self) -> Iterator[str]:
        sizes = {len(entries) for entries in self.given.values()}
        if len(sizes) > 1 or round(min(sizes) ** 0.5) ** 2 != min(sizes):
            yield f"study.matrices: {sorted(sizes)} entries; allowed: all of one square number"
            return
        for name, matrix in self._arrays().items():
            if not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
                yield f"study.matrices: '{name}'; allowed: symmetric and positive definite"
        for text in self.arrows:
            ends = text.replace(" ", "").split("->")
            if len(ends) != 2 or not all(e.isdigit() for e in ends) or int(ends[0]) >= int(ends[1]):
                yield f"study.arrows: '{text}'; allowed: '1 -> 2', from lower to higher numbers"

    def _arrays(self) -> dict[str, Floats]:
        size = round(len(next(iter(self.given.values()))) ** 0.5)
        return {name: np.reshape(entries, (size, size)) for name, entries in self.given.items()}

    def run(self, rng: Generator) -> Outcome:
        arrays = self._arrays()
        S = np.stack(list(arrays.values()))
        matrix, D = axis("matrix", list(arrays)), S.shape[-1]
        row, column = axis("row", range(1, D + 1)), axis("column", range(1, D + 1))
        pairs = [(i, j) for i in range(D) for j in range(D) if i != j]
        conditional = np.full(S.shape, np.nan)
        for i, j in pairs:
            conditional[:, i, j] = [conditional_covariance(s, i, j) for s in S]
        return Outcome(
            matrix_entry=over(S, matrix, row, column),
            inverse=over(
                np.linalg.solve(S, np.broadcast_to(np.eye(D), S.shape)), matrix, row, column
            ),
            conditional=over(conditional, matrix, row, column),
            eigenvalue=over(np.linalg.eigvalsh(S), matrix, axis("eigenvalue_number", D)),
            **(self._network(rng) if self.arrows else {}),
        )

    def _network(self, rng: Generator) -> dict[str, Quantity]:
        """Parameters, the recursion's moments and those of the matrix form."""
        D = max(child for _, child in self.pairs)
        draw = axis("draw", self.draws)
        i, j = axis("i", range(1, D + 1)), axis("j", range(1, D + 1))
        W = np.zeros((self.draws, D, D))
        for parent, child in self.pairs:
            W[:, child - 1, parent - 1] = rng.standard_normal(self.draws)
        b = rng.standard_normal((self.draws, D))
        v = rng.uniform(0.5, 2.0, (self.draws, D))
        found = [moments(W[n], b[n], v[n]) for n in range(self.draws)]
        noise = np.concatenate([b[..., None], np.sqrt(v)[..., None] * np.eye(D)], axis=-1)
        through = np.linalg.solve(np.eye(D) - W, noise)  # of the biases, of each noise
        spread = np.einsum("nik,njk->nij", through[..., 1:], through[..., 1:])
        return {
            "w": over(W, draw, i, j),
            "b": over(b, draw, i),
            "v": over(v, draw, i),
            "expected": over([mean for mean, _ in found], draw, i),
            "covariance": over([cov for _, cov in found], draw, i, j),
            "expected_by_matrix": over(through[..., 0], draw, i),
            "covariance_by_matrix": over(spread, draw, i, j),
        }
