"""Structures scored by their evidence, searched, sampled and averaged (Ghahramani 9.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import split
from bythebook.models.graphs.census import directed_graphs
from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.learning import (
    PRIORS,
    climbed,
    family_predictions,
    family_scores,
    integrated_likelihood,
    masks,
    neighbours,
    of_structures,
    posterior,
    sampled,
)
from bythebook.models.graphs.structure import Dag, arrows, dag, stated
from bythebook.models.types import Bools, Floats, Ints

# A and B with a common child.
TABLES = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C | A, B": [0.9, 0.1, 0.4, 0.6, 0.3, 0.7, 0.1, 0.9]}
SAME = 1e-9  # scores this close are equal up to rounding


@dataclass
class StructureLearning(Study):
    """Scores and predictions of all directed graphs, on data of a true network (Ghahramani 9.2).

    Predictions of new data are expected log densities under the true network, in nats per data
    point: of the best structure, of the true one, and averaged over all or sampled structures.
    """

    headline = {"found": "share(true_class_best)"}
    more_quantities = True
    quantities = {
        "true_class_best": quantity(
            "whether the true graph's equivalence class has the best score", "prior N draw"
        ),
    }

    factors: dict[str, list[float]] = knob(
        {}, "the true network, binary: 'c | a, b' for each a, b a row; none: A and B with a child"
    )
    sizes: list[int] = knob([20, 100, 500], "N, data points", at_least=1, distinct=True)
    draws: int = knob(20, "data sets of each size", at_least=1, at_most=1000)
    integrated: int = knob(
        0, "data points of a check by quadrature; 0: none", at_least=0, at_most=8
    )
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
        prior, size, draw = axis("prior", PRIORS), axis("N", self.sizes), axis("draw", self.draws)
        joint = self._joint()
        counts = np.array([rng.multinomial(N, joint.ravel(), self.draws) for N in self.sizes])
        batch = counts.reshape(-1, *joint.shape).astype(float)
        scores = np.array(
            [of_structures(family_scores(batch, name), masks(graphs)) for name in PRIORS]
        ).reshape(len(prior), len(size), self.draws, -1)
        chances, own = posterior(scores), self._class(graphs)
        structure = axis("structure", [self._arrow_text(graph) for graph in graphs])
        found = {
            "true_class_posterior": chances[..., own].sum(-1),
            "true_class_best": own[scores.argmax(-1)],
            "class_spread": _spread(scores, graphs),
        }
        more: dict[str, Quantity] = {}
        if self.steps:
            found |= self._searched(batch, scores, chances, graphs, rng)
            axes = axis("way", ["families", "evidence"]), prior, structure
            more["prediction"] = over(
                _predictions(batch[:1], graphs), *axes, axis("configuration", joint.size)
            )
            near = [neighbours(graphs).sum(1), _differ_in_a_link(graphs).sum(1)]
            more["neighbours"] = over(near, axis("counted", ["links", "arrows"]), structure)
        return Outcome(
            posterior=over(chances[:, :, 0], prior, size, structure),
            score=over(scores[:, :, 0], prior, size, structure),
            in_true_class=structure.of(own),
            **{name: over(values, prior, size, draw) for name, values in found.items()},
            **more,
            **self._integrals(rng),
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
    ) -> dict[str, Floats]:
        """Greedy search, samples of structures, and predictions by each method."""
        near, empty = neighbours(graphs), graphs.index(dag(len(self.names), []))
        flat = scores.reshape(-1, len(graphs))
        ends = [climbed(row, near, empty) for row in flat]
        gaps = flat.max(1) - flat[np.arange(len(flat)), ends]
        runner_up = np.where(_differ_in_a_link(graphs)[ends], flat, -np.inf).max(1)
        visits = sampled(flat, near, empty, self.steps, rng).reshape(scores.shape) / self.steps
        found = {
            "greedy_gap": np.where(gaps < SAME, 0.0, gaps).reshape(scores.shape[:-1]),
            "greedy_lead": (flat[np.arange(len(flat)), ends] - runner_up).reshape(
                scores.shape[:-1]
            ),
            "true_class_sampled": visits[..., self._class(graphs)].sum(-1),
        }
        best, true = scores.argmax(-1), graphs.index(self.truth)
        weights = {
            "held_out_best": np.eye(len(graphs))[best],
            "held_out_true": np.broadcast_to(np.eye(len(graphs))[true], scores.shape),
            "held_out_averaged": chances,
            "held_out_sampled": visits,
        }
        for k, name in enumerate(PRIORS):
            predicted = np.exp(of_structures(family_predictions(batch, name), masks(graphs)))
            predicted = predicted.reshape(*scores.shape[1:], -1)
            for way, weight in weights.items():
                mixed = np.log(np.einsum("ndgx,ndg->ndx", predicted, weight[k]))
                row = found.setdefault(way, np.empty(scores.shape[:-1]))
                row[k] = mixed @ self._joint().ravel()
        return found

    def _integrals(self, rng: Generator) -> dict[str, Quantity]:
        """Log evidence of all graphs of three variables, in closed form minus quadrature."""
        if not self.integrated or len(self.names) < 3:
            return {}
        p = self._joint()
        p = p.sum(tuple(range(3, p.ndim)))
        data: Ints = np.array(
            np.unravel_index(rng.choice(8, self.integrated, p=p.ravel()), p.shape)
        ).T
        counts = np.zeros((1, 2, 2, 2))
        np.add.at(counts[0], tuple(data.T), 1)
        graphs = list(directed_graphs(3))
        closed = of_structures(family_scores(counts, "uniform"), masks(graphs))[0]
        gaps = [
            c - log(integrated_likelihood(g, data)) for c, g in zip(closed, graphs, strict=True)
        ]
        return {"integral_gap": axis("three_nodes", len(graphs)).of(gaps)}


def _predictions(counts: Floats, graphs: list[Dag]) -> Floats:
    """Log P(x | D, m) of every configuration x, from tables and as P(D, x | m) / P(D | m)."""
    points = np.eye(counts.size).reshape(-1, *counts.shape[1:])
    found = []
    for name in PRIORS:
        predicted = of_structures(family_predictions(counts, name), masks(graphs))[0]
        with_x, without = (
            of_structures(family_scores(some, name), masks(graphs))
            for some in (counts + points, counts)
        )
        found.append([predicted, (with_x - without).T])
    return np.swapaxes(found, 0, 1)


def _differ_in_a_link(graphs: list[Dag]) -> Bools:
    """Pairs of structures that differ in one arrow: added, removed or reversed."""
    M = len(graphs[0])
    ways = np.array([[[j in g[i] for j in range(M)] for i in range(M)] for g in graphs])
    linked = ways | ways.swapaxes(1, 2)
    arrows_off = (ways[:, None] != ways).sum((-1, -2))
    same = (linked[:, None] == linked).all((-1, -2))
    return np.asarray((arrows_off == 1) | ((arrows_off == 2) & same))


def _spread(scores: Floats, graphs: list[Dag]) -> Floats:
    """The largest difference of scores between structures with the same independences."""
    said = directed_graphs(len(graphs[0]))
    worst = np.zeros(scores.shape[:-1])
    for own in set(said.values()):
        inside = scores[..., [said[graph] == own for graph in graphs]]
        worst = np.maximum(worst, np.ptp(inside, axis=-1))
    return worst
