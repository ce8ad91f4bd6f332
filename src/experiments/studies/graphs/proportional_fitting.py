"""Proportional fitting, sweep by sweep, on graphs with and without chords (MLAPP 19.5.7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, permutations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs import proportional_fitting as ipf
from bythebook.models.types import Bools, Floats, Ints

RIGHT = 1e-10  # marginals this close are correct up to rounding
NEAR = 1e-6  # of the best log likelihood, where passes are counted
PASSES = 20_000  # at most, of iterative scaling
ORDERS = 120  # of the cliques that are tried, at most
SCALED = 5  # variables of the model for which passes are counted
FORMS = ("as printed", "separators divided out")


@dataclass
class ProportionalFitting(Study):
    """Proportional fitting of given and drawn tables, from potentials of one (MLAPP 19.5.7).

    Drawn tables are of binary variables, positive everywhere; drawn Gaussians have a covariance of
    ten times as many points as variables, on the graph of all pairs that a clique has. One sweep is
    tried in up to 120 orders of the cliques.
    """

    headline = {"sweeps": "max(sweeps_needed)"}
    more_quantities = True
    quantities = {
        "sweeps_needed": quantity("sweeps until the margins are right", "graph draw"),
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
        given = self._given() if self.table else {}
        drawn = {**self._drawn(rng), **_passes(self.draws, rng)} if self.draws else {}
        return Outcome(**given, **drawn)

    def _given(self) -> dict[str, Quantity]:
        """Rows and columns as independent; potentials scaled so that those of rows sum to one."""
        counts = np.array(self.table)
        total = counts.sum()
        row, column = axis("row", counts.shape[0]), axis("column", counts.shape[1])
        *_, (left, right) = islice(ipf.sweeps(counts / total, [(0,), (1,)], 2), 2)
        fitted = total * ipf.normalised(left * right, 2)
        rows = left[:, 0] / left.sum()
        return {
            "counted": over(counts, row, column),
            "fitted": over(fitted, row, column),
            "row_factor": row.of(rows),
            "column_factor": column.of(fitted[0] / rows[0]),
        }

    def _drawn(self, rng: Generator) -> dict[str, Quantity]:
        graph, draw = axis("graph", self.graphs), axis("draw", self.draws)
        step, form = axis("sweep", self.sweeps + 1), axis("form", FORMS)
        shape = (len(graph), self.draws)
        gap, level = np.empty((2, *shape, len(step)))
        optimum, one, gauss = np.empty((3, *shape))
        forms, gaussian_forms = np.zeros((2, len(form), *shape))
        chordal = []
        for g, name in enumerate(self.graphs):
            of = ipf.cliques(name)
            N = 1 + max(max(clique) for clique in of)
            target = ipf.normalised(rng.gamma(1.0, size=(self.draws, *[2] * N)), N)
            for t, potentials in enumerate(islice(ipf.sweeps(target, of, N), len(step))):
                p = ipf.normalised(ipf.product(potentials, target), N)
                gap[g, :, t] = np.abs(ipf.margin_gaps(p, target, of, N)).max(-1)
                level[g, :, t] = (target * np.log(p)).reshape(self.draws, -1).sum(-1)
            optimum[g] = np.abs(level[g, :, -1] - _best(target, of, N))
            orders = islice(permutations(of), ORDERS)
            one[g] = np.max([_after_one(target, list(order), N) for order in orders], axis=0)
            S, linked = _covariances(self.draws, N, rng), ipf.graph_cliques(of, N)
            K = ipf.gaussian_fit(S, linked, self.sweeps)
            gauss[g] = _gaussian_gap(K, S, linked)
            perfect = ipf.perfect_order(of)
            chordal.append(perfect is not None)
            if perfect is not None:
                tables = ipf.closed_form(target, perfect, N)
                matrices = ipf.gaussian_closed_form(S, perfect)
                for k in range(len(form)):
                    forms[k, g] = np.abs(tables[k] - p).reshape(self.draws, -1).max(-1)
                    gaussian_forms[k, g] = np.abs(matrices[k] - K).max((-1, -2))
        return {
            "decomposable": graph.of(chordal),
            "margin_gap": over(gap, graph, draw, step),
            "log_likelihood": over(level, graph, draw, step),
            "sweeps_needed": over(_first(gap <= RIGHT), graph, draw),
            "optimum_gap": over(optimum, graph, draw),
            "order_gap": over(one, graph, draw),
            "gaussian_ipf_gap": over(gauss, graph, draw),
            "closed_form_error": over(forms, form, graph, draw),
            "gaussian_closed_form_error": over(gaussian_forms, form, graph, draw),
        }


def _first(right: Bools) -> Ints:
    """Index of the first True along the last axis; one past the end for none."""
    return np.asarray(np.where(right.any(-1), right.argmax(-1), right.shape[-1]))


def _best(target: Floats, of: list[ipf.Clique], N: int) -> Floats:
    """The largest log likelihood, by Newton's method on weights of products of signs."""
    features = ipf.interactions(of, N).reshape(-1, 2**N)
    flat = target.reshape(len(target), -1)
    return np.asarray((flat * np.log(ipf.log_linear(features, ipf.newton(flat, features)))).sum(-1))


def _after_one(target: Floats, of: list[ipf.Clique], N: int) -> Floats:
    *_, potentials = islice(ipf.sweeps(target, of, N), 2)
    p = ipf.normalised(ipf.product(potentials, target), N)
    return np.asarray(np.abs(ipf.margin_gaps(p, target, of, N)).max(-1))


def _covariances(draws: int, N: int, rng: Generator) -> Floats:
    mix = np.eye(N) + 0.4 * rng.standard_normal((draws, N, N))
    X = rng.standard_normal((draws, 10 * N, N)) @ mix
    X = X - X.mean(1, keepdims=True)
    return np.asarray(np.swapaxes(X, -1, -2) @ X / (10 * N))


def _gaussian_gap(K: Floats, S: Floats, of: list[ipf.Clique]) -> Floats:
    """Errors of covariances within cliques, and of zeros of the precision elsewhere."""
    inside = np.zeros(K.shape[-2:], dtype=bool)
    for clique in of:
        inside[np.ix_(clique, clique)] = True
    return np.asarray(np.abs(np.where(inside, np.linalg.inv(K) - S, K)).max((-1, -2)))


def _passes(draws: int, rng: Generator) -> dict[str, Quantity]:
    """Number of passes for expectations, by iterative scaling and by gradient ascent."""
    draw, features = axis("draw", draws), ipf.pair_features(SCALED)
    targets = ipf.normalised(rng.gamma(1.0, size=(draws, 2**SCALED)), 1)
    fits = ipf.log_linear(features, ipf.newton(targets, features))
    best = [float(t @ np.log(p)) for t, p in zip(targets, fits, strict=True)]
    off = (targets - fits).reshape(draws, *[2] * SCALED)
    pairs = list(combinations(range(SCALED), 2))
    both = [off.sum(tuple(k + 1 for k in range(SCALED) if k not in pair)) for pair in pairs]
    return {
        "pair_gap": over(
            np.swapaxes(both, 0, 1).reshape(draws, -1, 4),
            *(draw, axis("pair", len(pairs)), axis("cell", 4)),
        ),
        "scaling_passes": draw.of(
            [
                ipf.scaling_passes(t, features, b, NEAR, PASSES)
                for t, b in zip(targets, best, strict=True)
            ]
        ),
        "gradient_passes": draw.of(
            [ipf.gradient_passes(t, features, b, NEAR) for t, b in zip(targets, best, strict=True)]
        ),
    }
