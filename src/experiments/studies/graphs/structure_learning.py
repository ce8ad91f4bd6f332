"""Structures scored by their evidence, searched, sampled and averaged (Ghahramani 9.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import split
from bythebook.models.graphs.census import directed_graphs
from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.learning import (
    PRIORS,
    climbed,
    family_predictions,
    family_scores,
    masks,
    neighbours,
    of_structures,
    posterior,
    sampled,
)
from bythebook.models.graphs.structure import Dag, arrows, dag, stated
from bythebook.models.types import Bools, Floats

# A and B with a common child.
TABLES = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C | A, B": [0.9, 0.1, 0.4, 0.6, 0.3, 0.7, 0.1, 0.9]}
SAME = 1e-9  # scores this close are equal up to rounding
PREDICTED = ("best", "true", "averaged", "sampled")


@dataclass
class StructureLearning(Study):
    """Scores and predictions of all directed graphs, on data of a true network (Ghahramani 9.2).

    Predictions of new data are expected log densities under the true network, in nats per data
    point: of the best structure, of the true one, and averaged over all or sampled structures.
    """

    headline = {"found": "mean(true_class_posterior)"}
    quantities = {
        "posterior": quantity("probability of a structure, first data set", "prior N structure"),
        "in_true_class": quantity(
            "whether the structure states the same independences as the true one", "structure"
        ),
        "true_class_posterior": quantity(
            "posterior probability of the true graph's equivalence class", "prior N draw"
        ),
        "true_class_sampled": quantity(
            "share of the sampled structures in this class", "prior N draw"
        ),
        "greedy_gap": quantity(
            "best score minus that at which the greedy search ends", "prior N draw", unit="nats"
        ),
        "held_out": quantity(
            "expected log probability of a new data point", "method prior N draw", unit="nats"
        ),
    }
    axes = {
        "prior": axis_of("Dirichlet prior of the tables"),
        "N": axis_of("number of data points"),
        "structure": axis_of("arrows of a structure"),
        "draw": axis_of("data set"),
        "method": axis_of("structure that predicts"),
    }

    factors: dict[str, list[float]] = knob(
        {}, "the true network, binary: 'c | a, b' for each a, b a row; none: A and B with a child"
    )
    sizes: list[int] = knob([20, 100, 500], "N, data points", at_least=1, distinct=True)
    draws: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    steps: int = knob(0, "of chains that sample structures; 0: no search", at_least=0)

    @property
    def tables(self) -> dict[str, list[float]]:
        return self.factors or TABLES

    @property
    def names(self) -> list[str]:
        return [split(text)[0][0] for text in self.tables if split(text)[0]]

    @property
    def truth(self) -> Dag:
        """The graph of the true network, nodes in the order of its tables."""
        pairs = [(p, split(text)[0][0]) for text in self.tables for p in split(text)[1]]
        return dag(len(self.names), [(self.names.index(a), self.names.index(b)) for a, b in pairs])

    def problems(self) -> Iterator[str]:
        for text, table in self.tables.items():
            of, given = split(text)
            if len(of) != 1 or not set(given) < set(self.names) or of[0] in given:
                yield f"study.factors: '{text}'; allowed: 'child | parents' of {self.names}"
                return
            rows = np.reshape(table, (-1, 2)) if len(table) == 2 ** (len(given) + 1) else None
            if rows is None or rows.min() < 0 or np.abs(rows.sum(1) - 1).max() > 1e-9:
                size = f"{2 ** len(given)} rows of two numbers that sum to one"
                yield f"study.factors: '{text}'; allowed: {size}"
        if len(set(self.names)) != len(self.tables) or not 2 <= len(self.names) <= 4:
            yield f"study.factors: {self.names}; allowed: one table for each of 2 to 4 variables"
        elif self.truth not in directed_graphs(len(self.names)):
            yield "study.factors: a directed cycle; allowed: none"

    def run(self, rng: Generator) -> Outcome:
        graphs = list(directed_graphs(len(self.names)))
        joint, own = self._joint(), self._class(graphs)
        counts = np.array([rng.multinomial(N, joint.ravel(), self.draws) for N in self.sizes])
        batch = counts.reshape(-1, *joint.shape).astype(float)
        scores = np.array(
            [of_structures(family_scores(batch, name), masks(graphs)) for name in PRIORS]
        ).reshape(len(PRIORS), len(self.sizes), self.draws, -1)
        chances = posterior(scores)
        more = self._searched(batch, scores, chances, graphs, rng) if self.steps else {}
        return outcome(
            {
                "prior": PRIORS,
                "N": self.sizes,
                "structure": [self._arrow_text(graph) for graph in graphs],
                "draw": self.draws,
                **({"method": PREDICTED} if self.steps else {}),
            },
            posterior=("prior N structure", chances[:, :, 0]),
            in_true_class=("structure", own),
            true_class_posterior=("prior N draw", chances[..., own].sum(-1)),
            **more,
        )

    def _joint(self) -> Floats:
        factors = []
        for text, table in self.tables.items():
            of, given = split(text)
            factors.append(Factor((*given, *of), np.reshape(table, [2] * (1 + len(given)))))
        return np.asarray(keep(product(factors), self.names).table)

    def _arrow_text(self, graph: Dag) -> str:
        return " ".join(f"{self.names[i]}>{self.names[j]}" for i, j in arrows(graph)) or "none"

    def _class(self, graphs: list[Dag]) -> Bools:
        """Mask of the structures with the same independences as the true one."""
        said, own = directed_graphs(len(self.names)), stated(self.truth)
        return np.array([said[graph] == own for graph in graphs])

    def _searched(
        self, batch: Floats, scores: Floats, chances: Floats, graphs: list[Dag], rng: Generator
    ) -> dict[str, tuple[str, Floats]]:
        """Greedy search, samples of structures, and predictions by each method."""
        near, empty = neighbours(graphs), graphs.index(dag(len(self.names), []))
        flat = scores.reshape(-1, len(graphs))
        gaps = flat.max(1) - [row[climbed(row, near, empty)] for row in flat]
        visits = sampled(flat, near, empty, self.steps, rng).reshape(scores.shape) / self.steps
        true = np.broadcast_to(np.eye(len(graphs))[graphs.index(self.truth)], scores.shape)
        weights = np.eye(len(graphs))[scores.argmax(-1)], true, chances, visits
        held_out = np.empty((len(PREDICTED), *scores.shape[:-1]))
        for k, name in enumerate(PRIORS):
            predicted = np.exp(of_structures(family_predictions(batch, name), masks(graphs)))
            predicted = predicted.reshape(*scores.shape[1:], -1)
            for m, weight in enumerate(weights):
                mixed = np.log(np.einsum("ndgx,ndg->ndx", predicted, weight[k]))
                held_out[m, k] = mixed @ self._joint().ravel()
        dims = "prior N draw"
        return {
            "greedy_gap": (dims, np.where(gaps < SAME, 0.0, gaps).reshape(scores.shape[:-1])),
            "true_class_sampled": (dims, visits[..., self._class(graphs)].sum(-1)),
            "held_out": (f"method {dims}", held_out),
        }
