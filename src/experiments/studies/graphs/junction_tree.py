"""Moral graphs, triangulation, trees of cliques and their messages (Ghahramani 8.4; PRML 8.4.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._joint import off, side_by_side
from bythebook.models.graphs.elimination import induced, min_fill, treewidth
from bythebook.models.graphs.factors import Factor, clamp, keep, product
from bythebook.models.graphs.junction import (
    all_trees,
    disagreement,
    hugin,
    junction_tree,
    shafer_shenoy,
)
from bythebook.models.graphs.junction_costs import in_a_row, largest_table, operations
from bythebook.models.graphs.pairwise import random_tree
from bythebook.models.graphs.queries import Queries
from bythebook.models.graphs.structure import (
    Dag,
    cliques,
    dag,
    is_chordal,
    links,
    moral,
    skeleton,
    stated,
    stated_undirected,
    undirected,
)

WAYS = ["Hugin", "Shafer-Shenoy"]
CHORDS = {"A-C": "ABCD", "B-D": "ABCD", "A-B": "ACBD", "C-D": "ACBD"}  # and their cycles


class Tried(NamedTuple):
    """One directed graph: its moral graph, all trees of its cliques, and messages on them."""

    error: list[float]  # by method of sending messages
    total_gap: float
    batch_error: float
    independences: int
    independences_kept: int
    independences_invented: int
    cliques: int
    overlaps: int
    trees: int
    running_trees: int
    heaviest_trees: int
    heaviest_running: int
    broken_gap: float
    tree_treewidth: int


@dataclass
class JunctionTree(Study):
    """Junction trees: clique tables against the joint table, and all trees of cliques (PRML 8.4.6).

    Chords are added to the cycles A-B-C-D-A (A-C or B-D) and A-C-B-D-A (A-B or C-D). Costs are of
    binary nodes in a row, each linked to those next to it so that cliques have the size counted.
    One variable is observed. The first draw is also recorded as texts, for the figure.
    """

    headline = {"error": "max(error)"}
    more_quantities = True
    quantities = {
        "error": quantity("largest relative error of a clique's table", "draw way"),
    }

    variables: int = knob(6, "nodes of a directed graph", at_least=3, at_most=7)
    links: int = knob(8, "arrows of it", at_least=1)
    states: int = knob(2, "states of each node", at_least=2, at_most=3)
    cycles: list[int] = knob([4, 5, 6], "nodes of cycles", at_least=4, at_most=6, distinct=True)
    cliques: list[int] = knob(
        [2, 3, 4, 5], "sizes of cliques whose cost is counted", at_least=2, at_most=12
    )
    draws: int = knob(30, "draws of graphs and tables", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        most = self.variables * (self.variables - 1) // 2
        if self.links > most:
            yield f"study.links={self.links}; allowed: up to {most}, the number of pairs"

    def run(self, rng: Generator) -> Outcome:
        draw, clique = axis("draw", self.draws), axis("clique", self.cliques)
        graphs = [self._graph(rng) for _ in range(self.draws)]
        found = side_by_side(
            [self._tried(graph, rng) for graph in graphs], draw, error=axis("way", WAYS)
        )
        return Outcome(
            **found,
            **self._cycles(),
            operations=clique.of([operations(size) for size in self.cliques]),
            table_size=clique.of([largest_table(in_a_row(size)) for size in self.cliques]),
            **_description(graphs[0]),
        )

    def _graph(self, rng: Generator) -> Dag:
        pairs = list(combinations(range(self.variables), 2))
        return dag(self.variables, [pairs[k] for k in rng.permutation(len(pairs))[: self.links]])

    def _tried(self, graph: Dag, rng: Generator) -> Tried:
        K, every = self.states, [_name(k) for k in range(self.variables)]
        tables = []
        for k, parents in enumerate(graph):
            above = [every[p] for p in sorted(parents)]
            tables.append(Factor((*above, every[k]), rng.dirichlet(np.ones(K), [K] * len(above))))
        seen = clamp(tables, {every[rng.integers(len(every))]: int(rng.integers(K))})
        joint = keep(product(seen), every)
        marry = moral(graph)
        tree = junction_tree(marry, min_fill(marry))
        trees = list(all_trees(tree.cliques))
        heaviest = [one for one in trees if one.weight == max(t.weight for t in trees)]
        broken = [one for one in trees if not one.runs]
        ours, theirs = stated(graph), stated_undirected(marry)
        found = [hugin(tree, every, seen), shafer_shenoy(tree, every, seen)]
        sums = [t.table.sum() for one in found for t in [*one.cliques, *one.separators.values()]]
        return Tried(
            error=[
                max(off(t.table, keep(joint, t.variables).table) for t in one.cliques)
                for one in found
            ],
            batch_error=_batch_error(tables, every),
            total_gap=float(np.abs(np.array(sums) / joint.table.sum() - 1).max()),
            independences=len(ours),
            independences_kept=len(ours & theirs),
            independences_invented=len(theirs - ours),
            cliques=len(tree.cliques),
            overlaps=sum(bool(a & b) for a, b in combinations(tree.cliques, 2)),
            trees=len(trees),
            running_trees=sum(one.runs for one in trees),
            heaviest_trees=len(heaviest),
            heaviest_running=sum(one.runs for one in heaviest),
            broken_gap=disagreement(shafer_shenoy(broken[0], every, seen)) if broken else 0.0,
            tree_treewidth=treewidth(undirected(len(every), random_tree(len(every), rng))),
        )

    def _cycles(self) -> dict[str, Quantity]:
        """Cycles with a chord, with links across cycles of four alone, and with none."""
        cycle, chord = axis("cycle", self.cycles), axis("chord", list(CHORDS))
        rings = [undirected(N, [(k, (k + 1) % N) for k in range(N)]) for N in self.cycles]
        across = [
            undirected(N, [*links(ring), (0, 2)]) if N == 4 else ring
            for N, ring in zip(self.cycles, rings, strict=True)
        ]
        return {
            "chordal_with": chord.of([_chordal(order, new) for new, order in CHORDS.items()]),
            "triangulated_by_fours": cycle.of([is_chordal(graph) for graph in across]),
            "running_uncut": cycle.of([sum(t.runs for t in all_trees(cliques(r))) for r in rings]),
        }


def _batch_error(tables: list[Factor], every: list[str]) -> float:
    """Error of posteriors given each state of the last variable, all states in one batch."""
    joint = keep(product(tables), every)
    states = np.arange(joint.table.shape[-1])
    found = Queries(tables, every[-1:]).posteriors({every[-1]: states})
    right = {x: keep(joint, [every[-1], x]).table for x in every[:-1]}
    return max(off(found[x], t / t.sum(1, keepdims=True)) for x, t in right.items())


def _name(k: int) -> str:
    return "ABCDEFGHIJKLMNOPQRST"[k]


def _chordal(order: str, chord: str) -> bool:
    """Whether one more link removes the chordless cycle of a cycle of four nodes."""
    ring = [(order[k], order[(k + 1) % 4]) for k in range(4)]
    numbered = [("ABCD".index(a), "ABCD".index(b)) for a, b in [*ring, tuple(chord.split("-"))]]
    return is_chordal(undirected(4, numbered)) and not is_chordal(undirected(4, numbered[:4]))


def _description(graph: Dag) -> dict[str, Quantity]:
    """A graph and its junction tree as texts: arrows, moral links, fill-in, links of cliques."""
    marry = moral(graph)
    order = min_fill(marry)
    tree = junction_tree(marry, order)
    names = ["".join(_name(k) for k in sorted(clique)) for clique in tree.cliques]
    new = sorted(set(links(marry)) - set(links(skeleton(graph))))
    lists = {
        "arrow": [f"{_name(p)}-{_name(k)}" for k, parents in enumerate(graph) for p in parents],
        "moral_link": [f"{_name(a)}-{_name(b)}" for a, b in new],
        "fill_in": [
            f"{_name(a)}-{_name(b)}" for pairs in induced(marry, order).fill_in for a, b in pairs
        ],
        "tree_link": [f"{names[i]}-{names[j]}" for i, j in tree.tree] or names,
    }
    return {key: over(some, axis(f"{key}_number", len(some))) for key, some in lists.items()}
