"""Variable elimination in several orders (MLAPP 20.3; PRML 8.4.6)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._scopes import (
    drawn,
    links_of,
    names,
    scope_problems,
    split,
)
from bythebook.models.graphs.elimination import Eliminated, eliminate, induced, min_fill, treewidth
from bythebook.models.graphs.factors import condition, keep, normalised, product
from bythebook.models.graphs.structure import dag, links, moral, skeleton, stated, stated_undirected


class Tried(NamedTuple):
    """One draw of all tables: Z, and the error and the steps of each order."""

    total: float
    error: list[float]
    printed: list[float]
    ways: list[Eliminated]


STUDENT = ["C", "D | C", "I", "G | I, D", "S | I", "L | G", "J | L, S", "H | G, J"]


@dataclass
class Elimination(Study):
    """Scopes, cost and errors of variable elimination in several orders (MLAPP 20.3).

    The answer is over the variables that are in no order and not observed. Tables are drawn:
    conditional ones of directed graphs, positive ones of others.
    """

    headline = {"width": "width", "error": "max(error)"}
    more_quantities = True
    quantities = {
        "error": quantity("largest relative error of the answer", "order draw"),
        "width": quantity("width that an order of elimination induces", "order"),
    }

    factors: list[str] = knob(
        STUDENT, "scopes of the factors: 'child | parents', or 'a, b'", distinct=True
    )
    orders: list[str] = knob(
        ["C D I H G S L", "G I S L H C D"], "variables to sum out, in turn", distinct=True
    )
    drawn_orders: int = knob(0, "further random orders of the same variables", at_least=0)
    observed: list[str] = knob([], "observed variables", may_be_empty=True, distinct=True)
    left_out: list[str] = knob(
        [], "factors that the text leaves out", may_be_empty=True, distinct=True
    )
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
        if not set(self.left_out) <= set(self.factors):
            yield f"study.left_out={self.left_out}; allowed: among study.factors"
        if len(known) > 12:
            yield f"study.factors: {len(known)} variables; allowed: 12, for all settings are tried"

    def run(self, rng: Generator) -> Outcome:
        first = self.orders[0].split()
        more = [" ".join(rng.permutation(first)) for _ in range(self.drawn_orders)]
        order = axis("order", list(dict.fromkeys([*self.orders, *more])))
        draw = axis("draw", self.draws)
        tried = [self._tried(order, rng) for _ in range(self.draws)]
        total, error, printed, ways = zip(*tried, strict=True)
        found: dict[str, Quantity] = {"error": over(np.transpose(error), order, draw)}
        if self.left_out:
            found["error_as_printed"] = over(np.transpose(printed), order, draw)
        return Outcome(
            total=draw.of(total), **found, **self._scopes(order, ways[0]), **self._independences()
        )

    def _tried(self, order: Axis, rng: Generator) -> Tried:
        """Errors of all orders with newly drawn tables, against the joint distribution."""
        tables = drawn(self.factors, self.states, rng)
        given = {name: int(rng.integers(self.states)) for name in self.observed}
        seen = [condition(factor, given) for factor in tables]
        parts = [f for f, s in zip(seen, self.factors, strict=True) if s not in self.left_out]
        exact = normalised(keep(product(seen), self.remaining)).table

        def error(way: Eliminated) -> float:
            return float(np.abs(normalised(keep(way.answer, self.remaining)).table - exact).max())

        ways = [eliminate(seen, some.split()) for some in order.values]
        printed = [error(eliminate(parts, some.split())) for some in order.values]
        return Tried(product(tables).table.sum(), [error(way) for way in ways], printed, ways)

    def _scopes(self, order: Axis, ways: Sequence[Eliminated]) -> dict[str, int | Quantity]:
        """Scopes of tables, and elimination on the graph alone."""
        step, K = axis("step", range(1, len(ways[0].steps) + 1)), axis("K", self.counted)
        every = [name for name in names(self.factors) if name not in self.observed]
        graph = links_of(self.factors, every)
        plays = [induced(graph, [every.index(n) for n in some.split()]) for some in order.values]
        maximal = [[_sorted_names(every[i] for i in c) for c in play.maximal] for play in plays]
        number = axis("number", range(1, max(map(len, maximal)) + 1))
        return {
            "product_scope": over(
                [[_sorted_names(s.product) for s in w.steps] for w in ways], order, step
            ),
            "created_scope": over(
                [[_sorted_names(s.created) for s in w.steps] for w in ways], order, step
            ),
            "product_size": over([[len(s.product) for s in w.steps] for w in ways], order, step),
            "created_size": over([[len(s.created) for s in w.steps] for w in ways], order, step),
            "operations": over(
                [[float(w.operations(k)) for k in self.counted] for w in ways], order, K
            ),
            "terms": K.of([float(k) ** len(step) for k in self.counted]),
            "graph_scope": over(
                [[_sorted_names(every[i] for i in c) for c in play.cliques] for play in plays],
                order,
                step,
            ),
            "fill_in": over(
                [[_links(every, new) for new in play.fill_in] for play in plays], order, step
            ),
            "clique": over([f + [""] * (len(number) - len(f)) for f in maximal], order, number),
            "width": order.of([play.width for play in plays]),
            "greedy_width": induced(graph, min_fill(graph)).width,
            "treewidth": treewidth(graph),
        }

    def _independences(self) -> dict[str, int | str]:
        """Independences lost and invented by moralising a directed graph."""
        families = [split(scope) for scope in self.factors]
        if any(len(of) > 1 for of, _ in families):
            return {}
        every = names(self.factors)
        pairs = [(every.index(p), every.index(of[0])) for of, given in families for p in given]
        graph = dag(len(every), pairs)
        ours, theirs = stated(graph), stated_undirected(moral(graph))
        married = sorted(set(links(moral(graph))) - set(links(skeleton(graph))))
        return {
            "married": _links(every, married),
            "independences": len(ours),
            "independences_lost": len(ours - theirs),
            "independences_invented": len(theirs - ours),
        }


def _sorted_names(some: Iterable[str]) -> str:
    """Names in alphabetical order, so that texts compare as sets."""
    return " ".join(sorted(some))


def _links(every: Sequence[str], pairs: Iterable[tuple[int, int]]) -> str:
    return _sorted_names("-".join(sorted((every[i], every[j]))) for i, j in pairs)
