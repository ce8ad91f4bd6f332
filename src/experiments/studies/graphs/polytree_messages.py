"""Lambda and pi messages in singly connected directed graphs (Ghahramani 8.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.graphs._joint import shared, side_by_side
from models.graphs.evidence import Evidence, side
from models.graphs.factors import Factor, keep, product
from models.graphs.pairwise import random_tree
from models.graphs.polytree import Network, propagate, reverberate
from models.types import Floats


class Tried(NamedTuple):
    """One graph with tables and evidence: worst differences from what the joint table gives."""

    belief_error: float
    dependence_given_node: float
    product_error: float
    likelihood_error: float
    prior_error: float
    down_message_error: float
    up_message_ratio: float
    up_message_error: float
    echo_error: float
    confidence: float
    echo_confidence: float


@dataclass
class PolytreeMessages(Study):
    """Every message and every part of a belief against the joint table of all variables.

    Graphs are random trees with arrows turned at random, and for counting the same with two arrows
    more. With echoes, everybody is told what they said, round after round. Confidence is the
    largest probability of a node's states, mean over nodes that are not observed.
    """

    headline = {"error": "max(belief_error)"}

    variables: int = knob(7, "nodes", at_least=3, at_most=10)
    states: int = knob(2, "states of each node", at_least=2, at_most=3)
    observed: int = knob(3, "nodes that have been seen", at_least=1)
    rounds: int = knob(30, "rounds of messages with echoes", at_least=1, at_most=1000)
    draws: int = knob(60, "draws of graphs, tables and evidence", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if self.observed >= self.variables:
            yield f"study.observed={self.observed}; allowed: fewer than study.variables"

    def run(self, rng: Generator) -> Outcome:
        draw, paths = axis("draw", self.draws), axis("paths", ["one path", "loops"])
        tried, undivided = [], []
        for _ in range(self.draws):
            arrows = self._arrows(rng)
            tried.append(self._tried(arrows, rng))
            undivided.append([_undivided(some) for some in (arrows, self._more(arrows, rng))])
        return Outcome(
            **side_by_side(tried, draw), undivided_links=over(np.transpose(undivided), paths, draw)
        )

    def _arrows(self, rng: Generator) -> list[tuple[int, int]]:
        pairs = random_tree(self.variables, rng).tolist()
        return [(a, b) if rng.random() < 0.5 else (b, a) for a, b in pairs]

    def _more(self, arrows: list[tuple[int, int]], rng: Generator) -> list[tuple[int, int]]:
        """With two links more, of nodes that had none."""
        free = [
            p
            for p in combinations(range(self.variables), 2)
            if p not in arrows and p[::-1] not in arrows
        ]
        return arrows + [free[k] for k in rng.permutation(len(free))[:2]]

    def _tried(self, arrows: list[tuple[int, int]], rng: Generator) -> Tried:
        K, every = self.states, [f"x{k}" for k in range(self.variables)]
        tables = []
        for k, name in enumerate(every):
            above = [every[a] for a, b in arrows if b == k]
            tables.append(Factor((*above, name), rng.dirichlet(np.ones(K), [K] * len(above))))
        seen = rng.permutation(self.variables)[: self.observed]
        given = {every[k]: int(rng.integers(K)) for k in seen}
        network = Network(tables, given)
        told, echo = propagate(network), reverberate(network, self.rounds)
        exact = Evidence(
            keep(product(tables), every), [(every[a], every[b]) for a, b in arrows], given
        )
        hidden = [name for name in every if name not in given]
        right = {name: exact.posterior(name, given) for name in hidden}
        loud = {name: network.belief(echo, name) for name in hidden}
        sides = [
            (
                network.to_parent(told, y, x, likelihood=exact.likelihood(y, exact.below(y))),
                exact.likelihood(x, exact.behind(x, y)),
            )
            for x, y in network.links
        ]
        ratios = [told_side / right_side for told_side, right_side in sides]
        return Tried(
            belief_error=max(_apart(network.belief(told, x), right[x]) for x in hidden),
            dependence_given_node=max(exact.dependence(x) for x in every),
            product_error=max(_apart(exact.product(x), right[x]) for x in hidden),
            likelihood_error=max(exact.likelihood_gap(x, network.children(x)) for x in every),
            prior_error=max(
                _apart(network.prior(told, x), exact.posterior(x, exact.above(x))) for x in every
            ),
            down_message_error=max(
                _apart(told.prior[x, y], exact.posterior(x, exact.before(x, y)))
                for x, y in network.links
            ),
            up_message_ratio=max(float(max(r.max(), (1 / r).max())) for r in ratios),
            up_message_error=max(_apart(shared(a), shared(b)) for a, b in sides),
            echo_error=max(_apart(loud[x], right[x]) for x in hidden),
            confidence=float(np.mean([p.max() for p in right.values()])),
            echo_confidence=float(np.mean([p.max() for p in loud.values()])),
        )


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max())


def _undivided(arrows: list[tuple[int, int]]) -> int:
    """How many links leave their ends connected when they are cut."""
    links = [(str(a), str(b)) for a, b in arrows]
    return sum(b in side(links, a, [(a, b)]) for a, b in links)
