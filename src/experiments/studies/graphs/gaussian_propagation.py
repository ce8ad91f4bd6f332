"""Gaussian messages on trees and on graphs with loops (MLAPP 20.2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.gaussian import beliefs, rounds
from bythebook.models.graphs.pairwise import SHAPES, shaped
from bythebook.models.types import Floats

BOTH, AGREE = SIGNS = ("links of both signs", "links that agree")


@dataclass
class GaussianPropagation(Study):
    """Means and variances of p(x) ~ exp(-x' A x / 2 + b' x) by messages, against the inverse of A.

    A has ones on its diagonal and Gaussian links, scaled so that the largest eigenvalue of their
    absolute values is `strength`: below one, messages converge. Links that agree are negative.
    """

    headline = {"mean_error": "max(abs(belief_mean - exact_mean))"}
    quantities = {
        "belief_mean": quantity("mean of a node by messages", "shape sign draw node"),
        "exact_mean": quantity("exact mean of a node", "shape sign draw node"),
        "belief_variance": quantity("variance of a node by messages", "shape sign draw node"),
        "exact_variance": quantity("exact variance of a node", "shape sign draw node"),
        "change": quantity("largest change of a message in the last round", "shape sign draw"),
    }
    axes = {
        "shape": axis_of("shape of the graph"),
        "sign": axis_of("signs of the links"),
        "draw": axis_of("draw of A and b"),
        "node": axis_of("node"),
    }

    shapes: list[str] = knob(["tree", "grid"], "of the graphs", choices=SHAPES, distinct=True)
    signs: list[str] = knob(list(SIGNS), "of the links", choices=SIGNS, distinct=True)
    variables: int = knob(9, "nodes; of a grid a square number", at_least=4, at_most=100)
    strength: float = knob(0.8, "of the links", above=0, below=1)
    rounds: int = knob(200, "rounds of messages", at_least=1, at_most=10_000)
    draws: int = knob(100, "draws of A and b", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if "grid" in self.shapes and round(self.variables**0.5) ** 2 != self.variables:
            yield f"study.variables={self.variables} of a grid; allowed: a square number"

    def run(self, rng: Generator) -> Outcome:
        shape = len(self.shapes), len(self.signs), self.draws
        change, found = np.empty(shape), np.empty((4, *shape, self.variables))
        for s, name in enumerate(self.shapes):
            drawn = np.stack([self._matrix(name, rng) for _ in range(self.draws)])
            b = rng.standard_normal((self.draws, self.variables))
            for k, sign in enumerate(self.signs):
                eye = np.broadcast_to(np.eye(self.variables), drawn.shape)
                A = drawn if sign == BOTH else 2 * eye - np.abs(drawn)
                inverse = np.linalg.solve(A, eye)
                *_, before, last = islice(rounds(A, b), self.rounds + 1)
                change[s, k] = np.abs(last.weighted - before.weighted).max((-1, -2))
                found[:2, s, k] = beliefs(A, b, last)
                found[2, s, k] = np.einsum("nij,nj->ni", inverse, b)
                found[3, s, k] = np.diagonal(inverse, axis1=-2, axis2=-1)
        axes = "shape sign draw node"
        return outcome(
            {
                "shape": self.shapes,
                "sign": self.signs,
                "draw": self.draws,
                "node": np.arange(1, self.variables + 1),
            },
            belief_mean=(axes, found[0]),
            belief_variance=(axes, found[1]),
            exact_mean=(axes, found[2]),
            exact_variance=(axes, found[3]),
            change=("shape sign draw", change),
        )

    def _matrix(self, shape: str, rng: Generator) -> Floats:
        N = self.variables
        links = shaped(shape, N, rng)
        R = np.zeros((N, N))
        R[links[:, 0], links[:, 1]] = rng.standard_normal(len(links))
        R = R + R.T
        return np.asarray(np.eye(N) + self.strength * R / np.linalg.eigvalsh(np.abs(R)).max())
