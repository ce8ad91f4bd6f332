"""Gaussian messages on trees and on graphs with loops (MLAPP 20.2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.gaussian import beliefs, rounds
from bythebook.models.graphs.pairwise import SHAPES, shaped
from bythebook.models.types import Floats

FORMS = {"derived": False, "printed": True}


@dataclass
class GaussianPropagation(Study):
    """Means and variances of p(x) ~ exp(-x' A x / 2 + b' x) by messages, against the inverse of A.

    A has ones on its diagonal and Gaussian links, scaled so that the largest eigenvalue of their
    absolute values is `strength`: below one, messages converge.
    """

    headline = {"mean_error": "max(mean_error[:, 'derived'])"}
    more_quantities = True
    quantities = {
        "mean_error": quantity("largest error of a mean by messages", "shape form draw"),
    }

    shapes: list[str] = knob(["tree", "grid"], "of the graphs", choices=SHAPES, distinct=True)
    variables: int = knob(9, "nodes; of a grid a square number", at_least=4, at_most=100)
    strength: float = knob(0.8, "of the links", above=0, below=1)
    rounds: int = knob(200, "rounds of messages", at_least=1, at_most=10_000)
    draws: int = knob(100, "draws of A and b", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if "grid" in self.shapes and round(self.variables**0.5) ** 2 != self.variables:
            yield f"study.variables={self.variables} of a grid; allowed: a square number"

    def run(self, rng: Generator) -> Outcome:
        shape, form = axis("shape", self.shapes), axis("form", list(FORMS))
        draw, node = axis("draw", self.draws), axis("node", self.variables)
        where = (len(shape), len(form), self.draws)
        off, change = np.empty(where), np.empty(where)
        variance = np.empty((*where, len(node)))
        right = np.empty((len(shape), self.draws, len(node)))
        for s, name in enumerate(self.shapes):
            A = np.stack([self._matrix(name, rng) for _ in range(self.draws)])
            b = rng.standard_normal((self.draws, len(node)))
            inverse = np.linalg.solve(A, np.broadcast_to(np.eye(len(node)), A.shape))
            mean = np.einsum("nij,nj->ni", inverse, b)
            right[s] = np.diagonal(inverse, axis1=-2, axis2=-1)
            for f, printed in enumerate(FORMS.values()):
                with np.errstate(all="ignore"):  # as printed a precision may vanish
                    *_, before, last = islice(rounds(A, b, printed=printed), self.rounds + 1)
                    found, variance[s, f] = beliefs(A, b, last)
                    off[s, f] = np.abs(found - mean).max(-1)
                    change[s, f] = np.abs(last.weighted - before.weighted).max((-1, -2))
        return Outcome(
            mean_error=over(off, shape, form, draw),
            change=over(change, shape, form, draw),
            variance=over(variance, shape, form, draw, node),
            exact_variance=over(right, shape, draw, node),
        )

    def _matrix(self, shape: str, rng: Generator) -> Floats:
        N = self.variables
        links = shaped(shape, N, rng)
        R = np.zeros((N, N))
        R[links[:, 0], links[:, 1]] = rng.standard_normal(len(links))
        R = R + R.T
        return np.asarray(np.eye(N) + self.strength * R / np.linalg.eigvalsh(np.abs(R)).max())
