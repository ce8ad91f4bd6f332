"""Proportional fitting, sweep by sweep, on graphs with and without chords (MLAPP 19.5.7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import proportional_fitting as ipf
from bythebook.models.types import Bools, Floats, Ints

RIGHT = 1e-10  # marginals this close are correct up to rounding
NEAR = 1e-6  # of the best log likelihood, where passes are counted
PASSES = 20_000  # at most, of iterative scaling
SCALED = 5  # variables of the model for which passes are counted


@dataclass
class ProportionalFitting(Study):
    """Proportional fitting of given and random tables, from potentials of one (MLAPP 19.5.7).

    Random tables are of binary variables, positive everywhere.
    """

    headline = {"sweeps": "max(sweeps_needed)"}
    quantities = {
        "counted": quantity("counts of the table", "row column"),
        "fitted": quantity("expected counts", "row column"),
        "row_factor": quantity("potential of the rows, scaled to a sum of one", "row"),
        "column_factor": quantity("potential of the columns", "column"),
        "decomposable": quantity("whether the graph is decomposable", "graph"),
        "margin_gap": quantity("largest error of a clique's marginal", "graph draw sweep"),
        "sweeps_needed": quantity("sweeps until the margins are right", "graph draw"),
        "scaling_passes": quantity("expectations computed by iterative scaling", "draw"),
        "gradient_passes": quantity("expectations computed along the gradient", "draw"),
    }
    axes = {
        "row": axis_of("row"),
        "column": axis_of("column"),
        "graph": axis_of("cliques of a graph"),
        "draw": axis_of("random table"),
        "sweep": axis_of("sweep"),
    }

    table: list[list[float]] = knob(
        [], "counts of two variables; none: drawn tables alone", above=0, may_be_empty=True
    )
    graphs: list[str] = knob(["AB BC CD DA"], "each as its cliques", distinct=True)
    draws: int = knob(10, "drawn tables; 0: none", at_least=0, at_most=1000)
    sweeps: int = knob(300, "of drawn tables", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        if not self.table and not self.draws:
            yield "study.table and study.draws: nothing to fit; allowed: at least one of them"
        if len({len(row) for row in self.table}) > 1:
            yield "study.table: rows differ in length"
        for graph in self.graphs:
            if len(set(graph) - {" "}) > 7 or len(graph.split()) > 6:
                yield f"study.graphs: {graph}; allowed: 7 variables and 6 cliques"

    def run(self, rng: Generator) -> Outcome:
        coords, found = dict[str, Any](), dict[str, Any]()
        if self.table:
            counts = np.array(self.table)
            coords |= {"row": counts.shape[0], "column": counts.shape[1]}
            found |= _independent(counts)
        if self.draws:
            gaps = np.array([self._gaps(name, rng) for name in self.graphs])
            scaling, gradient = _passes(self.draws, rng)
            chordal = [ipf.perfect_order(ipf.cliques(name)) is not None for name in self.graphs]
            coords |= {"graph": self.graphs, "draw": self.draws, "sweep": self.sweeps + 1}
            found |= {
                "decomposable": ("graph", chordal),
                "margin_gap": ("graph draw sweep", gaps),
                "sweeps_needed": ("graph draw", _first(gaps <= RIGHT)),
                "scaling_passes": ("draw", scaling),
                "gradient_passes": ("draw", gradient),
            }
        return outcome(coords, **found)

    def _gaps(self, name: str, rng: Generator) -> Floats:
        """The largest error of a marginal of random tables, (draw, sweep)."""
        of = ipf.cliques(name)
        N = 1 + max(max(clique) for clique in of)
        target = ipf.normalised(rng.gamma(1.0, size=(self.draws, *[2] * N)), N)
        gap = np.empty((self.draws, self.sweeps + 1))
        for t, potentials in enumerate(islice(ipf.sweeps(target, of, N), self.sweeps + 1)):
            p = ipf.normalised(ipf.product(potentials, target), N)
            gap[:, t] = np.abs(ipf.margin_gaps(p, target, of, N)).max(-1)
        return gap


def _independent(counts: Floats) -> dict[str, tuple[str, Floats]]:
    """Rows and columns as independent; potentials scaled so that those of rows sum to one."""
    total = counts.sum()
    *_, (left, right) = islice(ipf.sweeps(counts / total, [(0,), (1,)], 2), 2)
    fitted = total * ipf.normalised(left * right, 2)
    rows = left[:, 0] / left.sum()
    return {
        "counted": ("row column", counts),
        "fitted": ("row column", fitted),
        "row_factor": ("row", rows),
        "column_factor": ("column", fitted[0] / rows[0]),
    }


def _first(right: Bools) -> Ints:
    """Index of the first True along the last axis; one past the end for none."""
    return np.asarray(np.where(right.any(-1), right.argmax(-1), right.shape[-1]))


def _passes(draws: int, rng: Generator) -> tuple[list[int], list[int]]:
    """Number of passes for expectations, by iterative scaling and by gradient ascent."""
    features = ipf.pair_features(SCALED)
    targets = ipf.normalised(rng.gamma(1.0, size=(draws, 2**SCALED)), 1)
    fits = ipf.log_linear(features, ipf.newton(targets, features))
    best = [float(t @ np.log(p)) for t, p in zip(targets, fits, strict=True)]
    pairs = list(zip(targets, best, strict=True))
    return (
        [ipf.scaling_passes(t, features, b, NEAR, PASSES) for t, b in pairs],
        [ipf.gradient_passes(t, features, b, NEAR) for t, b in pairs],
    )
