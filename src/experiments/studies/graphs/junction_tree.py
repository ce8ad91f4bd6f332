"""Moral graphs, triangulation, trees of cliques and their messages (Ghahramani 8.4; PRML 8.4.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.elimination import induced, min_fill
from bythebook.models.graphs.factors import SUM_PRODUCT, Factor, clamp
from bythebook.models.graphs.junction import all_trees, disagreement, junction_tree, shafer_shenoy
from bythebook.models.graphs.junction_costs import operations
from bythebook.models.graphs.marginals import METHODS
from bythebook.models.graphs.structure import (
    Dag,
    Undirected,
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
from bythebook.models.types import Floats

MESSAGES = ["enumeration", "Hugin", "Shafer-Shenoy"]
TREES = ["all", "running", "heaviest", "both"]
GRAPHS = ["directed graph", "moral graph", "both"]
CHORDS = {"A-C": "ABCD", "B-D": "ABCD", "A-B": "ACBD", "C-D": "ACBD"}  # and their cycles
NAMES = "ABCDEFG"


@dataclass
class JunctionTree(Study):
    """Marginals by messages between cliques, and all trees of cliques, of directed graphs.

    Chords are added to the cycles A-B-C-D-A (A-C or B-D) and A-C-B-D-A (A-B or C-D). Costs are of
    binary nodes in a row, each linked to those next to it so that cliques have the size counted.
    One variable is observed. The first graph is also recorded as texts.
    """

    headline = {"trees": "mean(trees['running'])"}
    quantities = {
        "marginal": quantity("marginal of a variable", "method draw variable state"),
        "statements": quantity("independence statements of both graphs", "graph draw"),
        "cliques": quantity("maximal cliques of the triangulated graph", "draw"),
        "overlaps": quantity("pairs of cliques that have variables in common", "draw"),
        "trees": quantity("spanning trees of the cliques", "kind draw"),
        "disagreement": quantity(
            "largest difference of two cliques' beliefs about a variable",
            "draw",
        ),
        "chordal_with": quantity("whether a cycle of four is chordal with one more link", "chord"),
        "chordal_by_fours": quantity(
            "whether a cycle is chordal with links across cycles of length four", "cycle"
        ),
        "running_uncut": quantity("running trees of a cycle without more links", "cycle"),
        "operations": quantity("additions and multiplications of all messages", "clique"),
        "arrow": quantity("arrows of the first graph", "arrow_number"),
        "moral_link": quantity("links that the moral graph adds", "moral_link_number"),
        "fill_in": quantity("links that triangulation adds", "fill_in_number"),
        "tree_link": quantity("links of the junction tree", "tree_link_number"),
    }
    axes = {
        "method": axis_of("algorithm"),
        "draw": axis_of("draw of graph and tables"),
        "variable": axis_of("variable"),
        "state": axis_of("state"),
        "graph": axis_of("graph, or statements that both have"),
        "kind": axis_of("running intersection property, largest weight, or both"),
        "chord": axis_of("link"),
        "cycle": axis_of("nodes of the cycle"),
        "clique": axis_of("binary variables of a clique"),
        "arrow_number": axis_of("number"),
        "moral_link_number": axis_of("number"),
        "fill_in_number": axis_of("number"),
        "tree_link_number": axis_of("number"),
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
        max_links = self.variables * (self.variables - 1) // 2
        if self.links > max_links:
            yield f"study.links={self.links}; allowed: up to {max_links}, the number of pairs"

    def run(self, rng: Generator) -> Outcome:
        graphs = [self._graph(rng) for _ in range(self.draws)]
        counts = np.array([_tree_counts(graph) for graph in graphs])
        sides = [(stated(graph), stated_undirected(moral(graph))) for graph in graphs]
        statements = [(len(one), len(other), len(one & other)) for one, other in sides]
        marginal, disagreements = self._messages(graphs, rng)
        texts = _description(graphs[0])
        return outcome(
            {
                "method": MESSAGES,
                "draw": self.draws,
                "variable": list(NAMES[: self.variables]),
                "state": self.states,
                "graph": GRAPHS,
                "kind": TREES,
                "chord": list(CHORDS),
                "cycle": self.cycles,
                "clique": self.cliques,
                **{f"{word}_number": len(some) for word, some in texts.items()},
            },
            marginal=("method draw variable state", marginal),
            statements=("graph draw", np.transpose(statements)),
            cliques=("draw", counts[:, 0]),
            overlaps=("draw", counts[:, 1]),
            trees=("kind draw", counts[:, 2:].T),
            disagreement=("draw", disagreements),
            chordal_with=("chord", [_chordal(order, new) for new, order in CHORDS.items()]),
            chordal_by_fours=("cycle", [is_chordal(_cycle(N, across=4)) for N in self.cycles]),
            running_uncut=(
                "cycle",
                [sum(tree.runs for tree in all_trees(cliques(_cycle(N)))) for N in self.cycles],
            ),
            operations=("clique", [operations(size) for size in self.cliques]),
            **{word: (f"{word}_number", some) for word, some in texts.items()},
        )

    def _messages(self, graphs: list[Dag], rng: Generator) -> tuple[Floats, Floats]:
        """Marginals by each algorithm, and disagreements on a tree that does not run."""
        marginal = np.empty((len(MESSAGES), self.draws, self.variables, self.states))
        disagreements = np.empty(self.draws)
        for draw, graph in enumerate(graphs):
            tables, given = self._tables(graph, rng)
            for m, method in enumerate(MESSAGES):
                found = METHODS[method].run(tables, given, SUM_PRODUCT, rng).marginals
                own = np.array([found[name] for name in NAMES[: self.variables]])
                marginal[m, draw] = own / own.sum(-1, keepdims=True)
            disagreements[draw] = _disagreement(graph, clamp(tables, given))
        return marginal, disagreements

    def _graph(self, rng: Generator) -> Dag:
        pairs = list(combinations(range(self.variables), 2))
        return dag(self.variables, [pairs[k] for k in rng.permutation(len(pairs))[: self.links]])

    def _tables(self, graph: Dag, rng: Generator) -> tuple[list[Factor], dict[str, int]]:
        """A conditional table of each node, and the state of an observed one."""
        K, tables = self.states, []
        for k, parents in enumerate(graph):
            above = [NAMES[p] for p in sorted(parents)]
            tables.append(Factor((*above, NAMES[k]), rng.dirichlet(np.ones(K), [K] * len(above))))
        return tables, {NAMES[rng.integers(len(graph))]: int(rng.integers(K))}


def _tree_counts(graph: Dag) -> tuple[int, ...]:
    """Cliques, pairs that overlap, and trees of the cliques: all, running, heaviest and both."""
    marry = moral(graph)
    tree = junction_tree(marry, min_fill(marry))
    trees = list(all_trees(tree.cliques))
    heaviest = [one for one in trees if one.weight == max(t.weight for t in trees)]
    overlaps = sum(bool(a & b) for a, b in combinations(tree.cliques, 2))
    running = [sum(one.runs for one in some) for some in (trees, heaviest)]
    return len(tree.cliques), overlaps, len(trees), running[0], len(heaviest), running[1]


def _cycle(N: int, across: int = 0) -> Undirected:
    """A cycle of N nodes, with a link across it if N is `across`."""
    return undirected(N, [(k, (k + 1) % N) for k in range(N)] + [(0, 2)] * (across == N))


def _disagreement(graph: Dag, tables: list[Factor]) -> float:
    """The disagreement of messages on the first tree of cliques that does not run."""
    marry = moral(graph)
    trees = all_trees(junction_tree(marry, min_fill(marry)).cliques)
    broken = next((tree for tree in trees if not tree.runs), None)
    return disagreement(shafer_shenoy(broken, NAMES, tables)) if broken else 0.0


def _chordal(order: str, chord: str) -> bool:
    """Whether one more link removes the chordless cycle of a cycle of four nodes."""
    ring = [(order[k], order[(k + 1) % 4]) for k in range(4)]
    numbered = [(NAMES.index(a), NAMES.index(b)) for a, b in [*ring, tuple(chord.split("-"))]]
    return is_chordal(undirected(4, numbered)) and not is_chordal(undirected(4, numbered[:4]))


def _description(graph: Dag) -> dict[str, list[str]]:
    """A graph and its junction tree as texts: arrows, moral links, fill-in, links of cliques."""
    marry = moral(graph)
    order = min_fill(marry)
    tree = junction_tree(marry, order)
    names = ["".join(NAMES[k] for k in sorted(clique)) for clique in tree.cliques]
    new = sorted(set(links(marry)) - set(links(skeleton(graph))))
    filled = [pair for pairs in induced(marry, order).fill_in for pair in pairs]
    return {
        "arrow": [f"{NAMES[p]}-{NAMES[k]}" for k, parents in enumerate(graph) for p in parents],
        "moral_link": [f"{NAMES[a]}-{NAMES[b]}" for a, b in new],
        "fill_in": [f"{NAMES[a]}-{NAMES[b]}" for a, b in filled],
        "tree_link": [f"{names[i]}-{names[j]}" for i, j in tree.tree] or names,
    }
