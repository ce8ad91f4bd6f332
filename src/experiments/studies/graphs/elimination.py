"""Variable elimination in several orders (MLAPP 20.3; PRML 8.4.6)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import (
    drawn,
    links_of,
    names,
    scope_problems,
    split,
)
from bythebook.models.graphs.elimination import Eliminated, eliminate, induced, min_fill, treewidth
from bythebook.models.graphs.factors import condition, keep, normalised
from bythebook.models.graphs.structure import dag, links, moral, skeleton, stated, stated_undirected
from bythebook.models.types import Floats

STUDENT = ["C", "D | C", "I", "G | I, D", "S | I", "L | G", "J | L, S", "H | G, J"]


@dataclass
class Elimination(Study):
    """Scopes and cost of variable elimination in several orders, and its answer (MLAPP 20.3).

    The answer is over the variables that are in no order and not observed. Tables are drawn:
    conditional ones of directed graphs, positive ones of others. Names in a scope are in
    alphabetical order.
    """

    headline = {"width": "width"}
    quantities = {
        "answer": quantity(
            "distribution of the variables that are left", "order draw configuration"
        ),
        "product_scope": quantity("variables of the temporary factor", "order step"),
        "created_scope": quantity("variables of the factor that is created", "order step"),
        "graph_scope": quantity("a node and its neighbours when it is eliminated", "order step"),
        "fill_in": quantity("fill-in edges", "order step"),
        "product_size": quantity("number of variables of the temporary factor", "order step"),
        "created_size": quantity("number of variables of the factor that is created", "order step"),
        "operations": quantity("additions and multiplications", "order K"),
        "clique": quantity("maximal cliques of the induced graph", "order"),
        "unused_cliques": quantity("maximal cliques that are no temporary factor", "order"),
        "width": quantity("induced width of the order", "order", equation="MLAPP 20.56"),
        "greedy_width": quantity("induced width of a greedy order"),
        "treewidth": quantity("smallest induced width of all orders", equation="MLAPP 20.56"),
        "married": quantity("links that moralisation adds"),
        "statements": quantity("independence statements of a directed graph", "graph"),
    }
    axes = {
        "order": axis_of("order of elimination"),
        "draw": axis_of("draw of all tables"),
        "configuration": axis_of("configuration of the variables that are left"),
        "step": axis_of("step"),
        "K": axis_of("number of states of each variable"),
        "graph": axis_of("graph, or statements that both have"),
    }

    factors: list[str] = knob(
        STUDENT, "scopes of the factors: 'child | parents', or 'a, b'", distinct=True
    )
    orders: list[str] = knob(
        ["C D I H G S L", "G I S L H C D"], "variables to sum out, in turn", distinct=True
    )
    drawn_orders: int = knob(0, "further random orders of the same variables", at_least=0)
    observed: list[str] = knob([], "observed variables", may_be_empty=True, distinct=True)
    states: int = knob(2, "states of each variable of the drawn tables", at_least=2, at_most=5)
    counted: list[int] = knob(
        [2, 3, 4], "states of each variable for which operations are counted", at_least=2
    )
    draws: int = knob(20, "draws of all tables", at_least=1, at_most=10_000)

    @property
    def remaining(self) -> list[str]:
        away = {*self.orders[0].split(), *self.observed}
        return [name for name in names(self.factors) if name not in away]

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        known, first = set(names(self.factors)), set(self.orders[0].split())
        for order in self.orders:
            if set(order.split()) != first or len(order.split()) > len(first):
                yield f"study.orders: '{order}'; allowed: those of the first, each once"
        for where, some in (("orders", first), ("observed", set(self.observed))):
            if not some <= known:
                extra = ", ".join(sorted(some - known))
                yield f"study.{where}: {extra}; allowed: {', '.join(sorted(known))}"
        if first & set(self.observed) or not self.remaining:
            yield "study.orders: no variable is left, or an observed variable is summed out"
        if len(known) > 12:
            yield f"study.factors: {len(known)} variables; allowed: 12, for the treewidth"

    def run(self, rng: Generator) -> Outcome:
        first = self.orders[0].split()
        more = [" ".join(rng.permutation(first)) for _ in range(self.drawn_orders)]
        orders = list(dict.fromkeys([*self.orders, *more]))
        found = [self._eliminated(orders, rng) for _ in range(self.draws)]
        ways = found[0]
        coords: dict[str, Any] = {"order": orders, "draw": self.draws, "K": self.counted}
        coords |= {"step": np.arange(1, len(first) + 1)}
        coords |= {"configuration": self.states ** len(self.remaining)}
        independences = self._independences()
        coords |= {"graph": ["directed graph", "moral graph", "both"]} if independences else {}
        return outcome(
            coords,
            answer=(
                "order draw configuration",
                np.swapaxes([[self._answer(way) for way in some] for some in found], 0, 1),
            ),
            product_scope=("order step", [[_text(s.product) for s in w.steps] for w in ways]),
            created_scope=("order step", [[_text(s.created) for s in w.steps] for w in ways]),
            product_size=("order step", [[len(s.product) for s in w.steps] for w in ways]),
            created_size=("order step", [[len(s.created) for s in w.steps] for w in ways]),
            operations=(
                "order K",
                [[float(w.operations(k)) for k in self.counted] for w in ways],
            ),
            **self._on_the_graph(orders),
            **independences,
        )

    def _eliminated(self, orders: Sequence[str], rng: Generator) -> list[Eliminated]:
        """Every order with the same newly drawn tables and observations."""
        tables = drawn(self.factors, self.states, rng)
        given = {name: int(rng.integers(self.states)) for name in self.observed}
        seen = [condition(factor, given) for factor in tables]
        return [eliminate(seen, order.split()) for order in orders]

    def _answer(self, way: Eliminated) -> Floats:
        return np.asarray(normalised(keep(way.answer, self.remaining)).table.ravel())

    def _on_the_graph(self, orders: Sequence[str]) -> dict[str, Any]:
        """Elimination of nodes of the graph, without tables."""
        every = [name for name in names(self.factors) if name not in self.observed]
        graph = links_of(self.factors, every)
        plays = [induced(graph, [every.index(n) for n in order.split()]) for order in orders]
        scopes = [[_text(every[i] for i in c) for c in play.cliques] for play in plays]
        maximal = [sorted(_text(every[i] for i in c) for c in play.maximal) for play in plays]
        unused = [len({*some} - {*made}) for some, made in zip(maximal, scopes, strict=True)]
        return {
            "graph_scope": ("order step", scopes),
            "fill_in": (
                "order step",
                [[_links(every, new) for new in play.fill_in] for play in plays],
            ),
            "clique": ("order", [", ".join(some) for some in maximal]),
            "unused_cliques": ("order", unused),
            "width": ("order", [play.width for play in plays]),
            "greedy_width": induced(graph, min_fill(graph)).width,
            "treewidth": treewidth(graph),
        }

    def _independences(self) -> dict[str, Any]:
        """Moral links and independences of a directed graph; nothing for other graphs."""
        families = [split(scope) for scope in self.factors]
        if any(len(of) > 1 for of, _ in families):
            return {}
        every = names(self.factors)
        pairs = [(every.index(p), every.index(of[0])) for of, given in families for p in given]
        graph = dag(len(every), pairs)
        ours, theirs = stated(graph), stated_undirected(moral(graph))
        married = sorted(set(links(moral(graph))) - set(links(skeleton(graph))))
        counts = [len(ours), len(theirs), len(ours & theirs)]
        return {"married": _links(every, married), "statements": ("graph", counts)}


def _text(some: Iterable[str]) -> str:
    """Names in alphabetical order, so that texts compare as sets."""
    return " ".join(sorted(some))


def _links(every: Sequence[str], pairs: Iterable[tuple[int, int]]) -> str:
    return _text("-".join(sorted((every[i], every[j]))) for i, j in pairs)
