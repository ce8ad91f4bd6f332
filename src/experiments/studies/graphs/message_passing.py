"""Messages on the tree of a factor graph, in any semiring and order (PRML 8.4.4; MLAPP 20.2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.graphs._scopes import drawn, names, scope_problems, split
from models.graphs.factors import (
    MAX_PRODUCT,
    MIN_SUM,
    SUM_PRODUCT,
    Factor,
    Semiring,
    clamp,
    condition,
    keep,
    product,
)
from models.graphs.propagation import (
    FactorGraph,
    Messages,
    Node,
    factor_graph,
    factor_marginal,
    marginal,
    one_by_one,
    two_passes,
)
from models.types import AnyArray, Floats

RINGS = {"sum-product": SUM_PRODUCT, "max-product": MAX_PRODUCT, "min-sum": MIN_SUM}
STARTS = {"waiting": True, "ones": False}
EXAMPLE = ["x1, x2", "x2, x3", "x2, x4"]  # PRML Figure 8.51


class Tried(NamedTuple):
    """What came of one draw of all tables: worst errors, as shares of the largest entry."""

    links: int
    messages: int
    error: list[float]  # of every variable from every root, by semiring
    factor_error: list[float]
    link_error: float
    clamped_error: float
    normaliser_spread: float
    serial_messages: list[int]  # by start
    serial_repeats: list[int]
    serial_left: list[bool]
    serial_error: list[float]


@dataclass
class MessagePassing(Study):
    """Two passes over a tree from every root, against the joint table of all variables.

    Also what else messages give (pairs by clamping, evidence, the normaliser), how many are sent,
    and pending messages sent one by one in a random order. Tables are drawn in each draw.
    """

    headline = {"error": "max(error)", "messages": "first(messages)"}

    factors: list[str] = knob(
        EXAMPLE,
        "scopes of the factors: 'child | parents', or 'a, b'; none: a random tree in each draw",
        distinct=True,
        may_be_empty=True,
    )
    variables: int = knob(6, "variables of a random tree", at_least=2, at_most=9)
    root: str = knob("x3", "the variable towards which messages are listed")
    observed: list[str] = knob(
        [], "variables that have been seen", may_be_empty=True, distinct=True
    )
    rings: list[str] = knob(
        ["sum-product"], "sums and products to use", choices=tuple(RINGS), distinct=True
    )
    states: int = knob(3, "states of each variable", at_least=2, at_most=5)
    draws: int = knob(20, "draws of all tables", at_least=1, at_most=10_000)

    @property
    def known(self) -> list[str]:
        return names(self.factors) or [f"x{k}" for k in range(1, self.variables + 1)]

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", self.factors)
        for where, some in (("root", [self.root]), ("observed", self.observed)):
            extra = sorted(set(some) - set(self.known))
            if extra:
                yield f"study.{where}: {', '.join(extra)}; allowed: {', '.join(self.known)}"
        if len(self.known) > 9:
            yield f"study.factors: {len(self.known)} variables; allowed: 9, for all settings count"
        nodes, links = len(self.known) + len(self.factors), sum(map(_width, self.factors))
        if self.factors and links != nodes - 1:
            yield f"study.factors: {links} links between {nodes} nodes; allowed: a tree, one fewer"

    def run(self, rng: Generator) -> Outcome:
        draw = axis("draw", self.draws)
        ring, start = axis("ring", self.rings), axis("start", list(STARTS))
        tried = [self._tried(rng) for _ in range(self.draws)]
        found: dict[str, Quantity] = {}
        for name in Tried._fields:
            values = np.array([getattr(one, name) for one in tried]).T
            along = start if name.startswith("serial") else ring
            found[name] = over(values, *([along, draw] if values.ndim > 1 else [draw]))
        return Outcome(**found, **self._listed(rng))

    def _tables(self, rng: Generator) -> list[Factor]:
        scopes = self.factors or [
            f"x{rng.integers(1, k)}, x{k}" for k in range(2, self.variables + 1)
        ]
        return drawn(scopes, self.states, rng)

    def _tried(self, rng: Generator) -> Tried:
        tables = self._tables(rng)
        given = {name: int(rng.integers(self.states)) for name in self.observed}
        graph, exact = _joint(tables, given, SUM_PRODUCT)
        passes = two_passes(graph, self.root)
        sent = [one_by_one(graph, rng, 10_000, waiting=waits) for waits in STARTS.values()]
        worst = [self._worst(*_joint(tables, given, RINGS[r]), RINGS[r]) for r in self.rings]
        sums = np.array([marginal(graph, passes, name).sum() for name in self.known])
        return Tried(
            links=len(graph.links) // 2,
            messages=len(passes),
            error=[variables for variables, _ in worst],
            factor_error=[factors for _, factors in worst],
            link_error=max(
                _off(passes[a, b] * passes[b, a], marginal(graph, passes, a))
                for a, b in graph.links
                if isinstance(a, str)
            ),
            clamped_error=self._clamped(tables, given, exact),
            normaliser_spread=float((sums.max() - sums.min()) / sums.max()),
            serial_messages=[sum(one.times.values()) for one in sent],
            serial_repeats=[max(one.times.values()) for one in sent],
            serial_left=[not one.ended for one in sent],
            serial_error=[_posterior_error(graph, one.messages, exact) for one in sent],
        )

    def _worst(self, graph: FactorGraph, exact: Factor, ring: Semiring) -> tuple[float, float]:
        """The largest errors of variables and of factors, over all roots."""
        variables = factors = 0.0
        for root in graph.near:
            messages = two_passes(graph, root, ring)
            variables = max(variables, _error(graph, messages, exact, ring))
            for k, factor in enumerate(graph.factors):
                hidden = [name for name in factor.variables if name in exact.variables]
                found = keep(factor_marginal(graph, messages, k, ring), hidden, ring)
                factors = max(factors, _off(found.table, keep(exact, hidden, ring).table))
        return variables, factors

    def _clamped(self, tables: Sequence[Factor], given: dict[str, int], exact: Factor) -> float:
        """Pairs of variables, by clamping one of them to each of its states (Exercise 8.26)."""
        worst = 0.0
        for a, b in combinations(exact.variables, 2):
            rows = []
            for state in range(self.states):
                graph = factor_graph(clamp(tables, {**given, a: state}))
                rows.append(marginal(graph, two_passes(graph, b), b))
            worst = max(worst, _off(np.array(rows), keep(exact, [a, b]).table))
        return worst

    def _listed(self, rng: Generator) -> dict[str, Quantity]:
        """The messages to the root and from it, in the order in which they are sent."""
        graph = factor_graph(self._tables(rng))
        sent = [f"{_called(a)} -> {_called(b)}" for a, b in two_passes(graph, self.root)]
        number = axis("number", range(1, len(sent) // 2 + 1))
        leaves = [name for name in graph.states if len(graph.near[name]) == 1 and name != self.root]
        return {
            "inward": number.of(sent[: len(number)]),
            "outward": number.of(sent[len(number) :]),
            "leaf": axis("place", range(1, len(leaves) + 1)).of(leaves),
        }


def _joint(
    tables: Sequence[Factor], given: Mapping[str, int], ring: Semiring
) -> tuple[FactorGraph, Factor]:
    """The graph with what was observed clamped, and the table of all that was not."""
    seen = [condition(factor, given) for factor in tables]
    return factor_graph(clamp(tables, given, ring)), product(seen, ring)


def _error(graph: FactorGraph, messages: Messages, exact: Factor, ring: Semiring) -> float:
    """The largest error of a variable that was not observed."""
    return max(
        _off(marginal(graph, messages, name, ring), keep(exact, [name], ring).table)
        for name in exact.variables
    )


def _posterior_error(graph: FactorGraph, messages: Messages, exact: Factor) -> float:
    """The same of probabilities: both are divided by their sums."""
    pairs = [(marginal(graph, messages, x), keep(exact, [x]).table) for x in exact.variables]
    return max(_off(found / found.sum(), right / right.sum()) for found, right in pairs)


def _width(scope: str) -> int:
    return sum(map(len, split(scope)))


def _called(node: Node) -> str:
    """Factors are called fa, fb, ... in their order."""
    return node if isinstance(node, str) else f"f{'abcdefghijklmnopqrstuvwxyz'[node]}"


def _off(found: AnyArray, exact: Floats) -> float:
    """The largest difference, as a share of the largest entry."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())
