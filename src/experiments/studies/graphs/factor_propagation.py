"""Sum-product and expectation propagation on factor graphs (PRML 10.7.2; Ghahramani 8.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._joint import error, side_by_side
from bythebook.experiments.studies.graphs._refined import compare, divergence_gap
from bythebook.experiments.studies.graphs._scopes import names, scope_problems, split
from bythebook.models.graphs.factors import Factor, product
from bythebook.models.graphs.pairwise import Field, beliefs, exact, rounds
from bythebook.models.graphs.propagation import FactorGraph, factor_graph, two_passes
from bythebook.models.types import Floats

FIGURE = ["x1, x2", "x2, x3", "x2, x4"]  # PRML Figure 10.18
MINIMISED = 2  # draws whose closest product is searched for


@dataclass
class FactorPropagation(Study):
    """Beliefs by parallel messages, with and without factors that close loops (PRML 10.7.2).

    Logarithms of tables are Gaussian. `refined` compares expectation propagation, whose marginals
    are those of whole tables, with sum-product, refinement by refinement.
    """

    headline = {"error": "max(abs(belief - exact_belief))"}
    more_quantities = True
    quantities = {
        "belief": quantity("probability of a state by messages", "graph spread draw node state"),
        "exact_belief": quantity("exact probability of a state", "graph spread draw node state"),
    }

    factors: list[str] = knob(FIGURE, "scopes of one or two variables, a tree")
    closing: list[str] = knob(
        ["x1, x3"], "scopes that close loops, in a second graph", may_be_empty=True
    )
    refined: str = knob("", "the factor whose refinement is checked; none: no check")
    spreads: list[float] = knob([1.0], "standard deviations of logarithms", above=0, distinct=True)
    states: int = knob(2, "states of each variable", at_least=2, at_most=4)
    rounds: int = knob(300, "rounds of messages", at_least=1, at_most=10_000)
    draws: int = knob(40, "draws of all tables", at_least=1, at_most=1000)
    compared: int = knob(10, "of them with expectation propagation", at_least=1)

    def problems(self) -> Iterator[str]:
        yield from scope_problems("factors", [*self.factors, *self.closing])
        if any(len(split(scope)[0]) > 2 for scope in [*self.factors, *self.closing]):
            yield "study.factors: a factor of more than two variables; allowed: one or two"
        elif not _graph(self.factors, self._draw(self.factors, np.random.default_rng(0))).is_tree:
            yield "study.factors: their graph has a loop or falls apart; allowed: a tree"
        if not set(names(self.closing)) <= set(names(self.factors)):
            yield "study.closing: variables that study.factors do not have"
        if self.refined and self.refined not in self.factors:
            yield f"study.refined={self.refined}; allowed: one of study.factors"

    def run(self, rng: Generator) -> Outcome:
        every = names(self.factors)
        graph, spread = axis("graph", ["given", "closed"]), axis("spread", self.spreads)
        draw, node = axis("draw", self.draws), axis("node", every)
        state = axis("state", self.states)
        scopes = [self.factors, [*self.factors, *self.closing]]
        whole = [self._draw(scopes[1], rng) for _ in range(self.draws)]
        results = [self._messages(some, whole) for some in scopes]
        belief, right, change = (np.array(side) for side in zip(*results, strict=True))
        return Outcome(
            belief=over(belief, graph, spread, draw, node, state),
            exact_belief=over(right, graph, spread, draw, node, state),
            change=over(change, graph, spread, draw),
            loops=graph.of([_graph(some, whole[0][: len(some)]).loops for some in scopes]),
            **self._merged(whole),
            **self._refined(scopes, whole, rng),
        )

    def _draw(self, scopes: Sequence[str], rng: Generator) -> list[Floats]:
        """Logarithms of a table for each scope."""
        return [rng.standard_normal([self.states] * len(split(scope)[0])) for scope in scopes]

    def _messages(
        self, scopes: Sequence[str], whole: Sequence[Sequence[Floats]]
    ) -> tuple[Floats, Floats, Floats]:
        """Beliefs, marginals and last changes, over all spreads and draws."""
        every, strength = names(self.factors), np.array(self.spreads)[:, None]
        nodes = np.zeros((len(self.spreads), self.draws, len(every), self.states))
        links, tables = [], []
        for k, scope in enumerate(scopes):
            own, logs = [every.index(x) for x in split(scope)[0]], np.array([w[k] for w in whole])
            if len(own) == 1:
                nodes[..., own[0], :] += strength[..., None] * logs
            else:
                links.append(own)
                tables.append(np.exp(strength[..., None, None] * logs))
        field = Field(np.exp(nodes), np.array(links), np.stack(tables, -3))
        before = last = np.empty(0)
        for messages in islice(rounds(field), self.rounds + 1):
            before, last = last, messages
        return beliefs(field, last), exact(field), np.abs(last - before).max((-1, -2))

    def _merged(self, whole: Sequence[Sequence[Floats]]) -> dict[str, Quantity]:
        """Results with factors over the same variables multiplied, if that is a tree; Z is one."""
        if not set(self.closing) <= set(self.factors):
            return {}
        found = []
        for logs in whole:
            tables = [np.exp(self.spreads[0] * own) for own in logs[: len(self.factors)]]
            for scope, more in zip(self.closing, logs[len(self.factors) :], strict=True):
                tables[self.factors.index(scope)] *= np.exp(self.spreads[0] * more)
            tables[0] /= product(_graph(self.factors, tables).factors).table.sum()
            graph = _graph(self.factors, tables)
            root = names(self.factors)[0]
            found.append(error(graph, two_passes(graph, root), product(graph.factors)))
        return {"merged_error": axis("draw", self.draws).of(found)}

    def _refined(
        self, scopes: Sequence[Sequence[str]], whole: Sequence[Sequence[Floats]], rng: Generator
    ) -> dict[str, Quantity]:
        if not self.refined:
            return {}
        tables = [[np.exp(self.spreads[0] * own) for own in logs] for logs in whole]
        graphs = [
            [_graph(some, own[: len(some)]) for some in scopes] for own in tables[: self.compared]
        ]
        j = self.factors.index(self.refined)
        found = [compare(tree, closed, j, rng) for tree, closed in graphs]
        minimised = [divergence_gap(tree) for tree, _ in graphs[:MINIMISED]]
        return {
            **side_by_side(found, axis("compared", len(found))),
            "divergence_gap": axis("minimised", len(minimised)).of(minimised),
        }


def _graph(scopes: Sequence[str], tables: Sequence[Floats]) -> FactorGraph:
    own = [tuple(split(scope)[0]) for scope in scopes]
    return factor_graph([Factor(s, t) for s, t in zip(own, tables, strict=True)])
