"""Marginals of all variables, by each algorithm and in each semiring (PRML 8.4; MLAPP 20.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import drawn, names, scope_problems
from bythebook.models.graphs.cutset import cut
from bythebook.models.graphs.factors import BOOLEAN, MAX_PRODUCT, MIN_SUM, SUM_PRODUCT, Factor
from bythebook.models.graphs.marginals import METHODS
from bythebook.models.graphs.pairwise import random_tree
from bythebook.models.graphs.propagation import Node, factor_graph, two_passes
from bythebook.models.types import AnyArray

SEMIRINGS = {
    "sum-product": SUM_PRODUCT,
    "max-product": MAX_PRODUCT,
    "min-sum": MIN_SUM,
    "boolean": BOOLEAN,
}
STATED, TREE, POLYTREE, HMM = GRAPHS = ("stated", "tree", "polytree", "hidden Markov model")
MAX_CONFIGURATIONS = 100_000  # of the hidden variables, for enumeration


@dataclass
class Marginals(Study):
    """The marginals of the same tables by each algorithm; enumeration is one of them (PRML 8.4).

    Tables are drawn in each draw, and with them the states of the observed variables, which these
    are, and a graph that is not stated. Tables of min-sum are negative logarithms; half of the
    entries of boolean ones are true. Of a hidden Markov model only the symbols are observed.
    """

    headline = {"error": "max(abs(marginal - marginal[:, 'enumeration']))"}
    quantities = {
        "marginal": quantity(
            "marginal of a variable, normalised if the semiring is sum-product",
            "semiring method draw variable state",
        ),
        "messages": quantity("number of messages that are sent", "semiring method draw"),
        "repeats": quantity(
            "largest number of times that a message is sent", "semiring method draw"
        ),
        "pending": quantity("number of messages left pending", "semiring method draw"),
        "loops": quantity(
            "loops that are left if a variable is given, in the last draw", "variable"
        ),
        "inward": quantity("messages to the root, in their order", "inward_place"),
        "outward": quantity("messages from the root, in their order", "outward_place"),
    }
    axes = {
        "semiring": axis_of("semiring"),
        "method": axis_of("algorithm"),
        "draw": axis_of("draw of graph, tables and evidence"),
        "variable": axis_of("variable"),
        "state": axis_of("state"),
        "inward_place": axis_of("number of the message"),
        "outward_place": axis_of("number of the message"),
    }

    graph: str = knob(STATED, "by study.factors, or drawn", choices=GRAPHS)
    factors: list[str] = knob(
        ["x1, x2", "x2, x3", "x2, x4"], "scopes of the factors: 'child | parents', or 'a, b'"
    )
    root: str = knob("", "the variable towards which messages are listed; none: no list")
    variables: int = knob(6, "variables of a drawn graph, or steps", at_least=2, at_most=10)
    states: int = knob(3, "states of each variable", at_least=2, at_most=5)
    observed: int = knob(0, "number of observed variables", at_least=0)
    methods: list[str] = knob(
        ["enumeration", "two passes"], "algorithms", choices=tuple(METHODS), distinct=True
    )
    semirings: list[str] = knob(
        ["sum-product"], "sums and products", choices=tuple(SEMIRINGS), distinct=True
    )
    draws: int = knob(20, "draws of graphs, tables and evidence", at_least=1, at_most=10_000)

    @property
    def known(self) -> list[str]:
        """The names of all variables."""
        if self.graph == STATED:
            return names(self.factors)
        kinds = "zx" if self.graph == HMM else "x"
        return [f"{kind}{k}" for kind in kinds for k in range(1, self.variables + 1)]

    @property
    def observable(self) -> list[str]:
        return [name for name in self.known if name[0] == "x" or self.graph != HMM]

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        if self.root and (self.graph != STATED or self.root not in self.known):
            yield f"study.root={self.root}; allowed: a variable of a stated graph"
        if self.observed > len(self.observable) or self.observed >= len(self.known):
            yield f"study.observed={self.observed}; allowed: fewer than {len(self.known)} variables"
            return
        if self.states ** (len(self.known) - self.observed) > MAX_CONFIGURATIONS:
            yield f"study.states: the number of configurations; allowed: <= {MAX_CONFIGURATIONS}"
        if self.observed and "min-sum" in self.semirings:
            yield "study.semirings: min-sum, whose marginals are infinite for observed variables"
        example = self._tables_and_evidence(np.random.default_rng(0))
        for name in self.methods:
            if self.semirings != ["sum-product"] and not METHODS[name].any_ring:
                yield f"study.semirings: {name} takes sum-product only"
            if not METHODS[name].suits(*example):
                yield f"study.methods: {name} does not suit this graph and these observations"

    def run(self, rng: Generator) -> Outcome:
        shape = len(self.semirings), len(self.methods), self.draws
        marginal = np.empty((*shape, len(self.known), self.states))
        counts = np.empty((3, *shape), dtype=int)
        for draw in range(self.draws):
            tables, given = self._tables_and_evidence(rng)
            for (r, ring), (m, method) in product(*map(enumerate, (self.semirings, self.methods))):
                some = [Factor(t.variables, _entries(t.table, ring)) for t in tables]
                found = METHODS[method].run(some, given, SEMIRINGS[ring], rng)
                counts[:, r, m, draw] = found.messages, found.repeats, found.pending
                for k, name in enumerate(self.known):
                    own = found.marginals[name]
                    total = own.sum() if ring == "sum-product" else 1
                    marginal[r, m, draw, k] = own / total
        axes = "semiring method draw"
        coords: dict[str, Any] = {"semiring": self.semirings, "method": self.methods}
        coords |= {"draw": self.draws, "variable": self.known, "state": self.states}
        schedule = self._schedule(tables) if self.root else {}
        coords |= {f"{way}_place": np.arange(1, len(sent) + 1) for way, sent in schedule.items()}
        return outcome(
            coords,
            marginal=(f"{axes} variable state", marginal),
            messages=(axes, counts[0]),
            repeats=(axes, counts[1]),
            pending=(axes, counts[2]),
            loops=("variable", [cut(tables, [name]).loops for name in self.known]),
            **{way: (f"{way}_place", sent) for way, sent in schedule.items()},
        )

    def _tables_and_evidence(self, rng: Generator) -> tuple[list[Factor], dict[str, int]]:
        tables = self._tables(rng)
        seen = rng.permutation(self.observable)[: self.observed].tolist()
        return tables, {name: int(rng.integers(self.states)) for name in seen}

    def _tables(self, rng: Generator) -> list[Factor]:
        N = self.variables
        if self.graph == STATED:
            return drawn(self.factors, self.states, rng)
        if self.graph == HMM:
            start, move, symbol = drawn(["z1", "z2 | z1", "x1 | z1"], self.states, rng)
            moves = [Factor((f"z{k}", f"z{k + 1}"), move.table) for k in range(1, N)]
            symbols = [Factor((f"z{k}", f"x{k}"), symbol.table) for k in range(1, N + 1)]
            return [start, *moves, *symbols]
        pairs = [(f"x{a + 1}", f"x{b + 1}") for a, b in random_tree(N, rng).tolist()]
        if self.graph == TREE:
            return drawn([", ".join(pair) for pair in pairs], self.states, rng)
        arrows = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        above = {x: ", ".join(a for a, b in arrows if b == x) for x in self.known}
        return drawn([f"{x} | {parents}" for x, parents in above.items()], self.states, rng)

    def _schedule(self, tables: list[Factor]) -> dict[str, list[str]]:
        """The messages to the root and from it; factors are called fa, fb, ... ."""
        sent = [
            f"{_label(a)} -> {_label(b)}" for a, b in two_passes(factor_graph(tables), self.root)
        ]
        half = len(sent) // 2
        return {"inward": sent[:half], "outward": sent[half:]}


def _label(node: Node) -> str:
    return node if isinstance(node, str) else f"f{'abcdefghijklmnopqrstuvwxyz'[node]}"


def _entries(table: AnyArray, ring: str) -> AnyArray:
    """The entries of a table of numbers in a semiring."""
    if ring == "min-sum":
        return np.asarray(-np.log(table))
    return np.asarray(table > np.median(table)) if ring == "boolean" else table
