"""Messages forwards and backwards along a chain, and their cost (PRML 8.4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._joint import off
from bythebook.models.graphs.chain import (
    all_configurations,
    backward,
    clamped,
    forward,
    marginals,
    neighbours,
)
from bythebook.models.graphs.chain_costs import (
    WAYS,
    as_factors,
    factor_messages,
    largest_product,
    operations,
    repeated,
)
from bythebook.models.graphs.independence import dependence
from bythebook.models.graphs.propagation import two_passes
from bythebook.models.graphs.structure import (
    Statement,
    dag,
    links,
    moral,
    skeleton,
    stated,
    stated_undirected,
)
from bythebook.models.types import Floats


class Tried(NamedTuple):
    """One chain: the largest errors of all results of messages."""

    error: float
    pair_error: float
    normaliser_spread: float
    clamped_error: float
    message_error: float
    separated_dependence: float
    linked_dependence: float
    directed_error: float
    directed_total: float


@dataclass
class ChainMessages(Study):
    """Marginals of chains by messages against the sum of all configurations (PRML 8.4.1).

    Also operations, counted while they are carried out, and the chain as a directed graph.
    Potentials are drawn between 0.1 and 1.
    """

    headline = {"error": "max(error)", "operations": "last(operations['one node'])"}
    more_quantities = True
    quantities = {
        "error": quantity("largest relative error of a marginal", "length states draw"),
        "operations": quantity("operations that the marginals need", "way length"),
    }

    lengths: list[int] = knob(
        [4, 5, 6], "nodes of the chains", at_least=3, at_most=9, distinct=True
    )
    states: list[int] = knob([2], "states of each node", at_least=2, at_most=3, distinct=True)
    counted: list[int] = knob(
        [50, 100], "states for which operations of messages are counted", at_least=2, distinct=True
    )
    observed: list[int] = knob(
        [3, 5], "two observed nodes; the second ends a chain", at_least=2, at_most=9
    )
    asked: int = knob(2, "the node whose posterior depends on them", at_least=1)
    draws: int = knob(20, "draws of all potentials", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if len(self.observed) != 2 or not self.asked < self.observed[0] < self.observed[1]:
            yield f"study.observed={self.observed}; allowed: two nodes in turn, after study.asked"

    def run(self, rng: Generator) -> Outcome:
        length, states = axis("length", self.lengths), axis("states", self.states)
        draw = axis("draw", self.draws)
        independences = [stated(_directed_chain(N)) for N in self.lengths]
        tried = [
            [[_tried(N, K, some, rng) for _ in range(self.draws)] for K in self.states]
            for N, some in zip(self.lengths, independences, strict=True)
        ]
        found = over(tried, length, states, draw, axis("checked", list(Tried._fields)))
        return Outcome(
            **{name: found.sel(checked=name) for name in Tried._fields},
            effect_of_last=draw.of([self._effect(rng) for _ in range(self.draws)]),
            independences=length.of([len(some) for some in independences]),
            **self._as_graphs(),
            **self._costs(rng),
        )

    def _effect(self, rng: Generator) -> float:
        """Dependence of the belief of one node on the second observed node."""
        (first, last), K = self.observed, self.states[0]
        psi = _drawn(last, K, rng)
        found = np.array(
            [
                [marginals(clamped(clamped(psi, first - 1, i), last - 1, j)) for j in range(K)]
                for i in range(K)
            ]
        )[..., self.asked - 1, :]
        return float((found.max(1) - found.min(1)).max())

    def _costs(self, rng: Generator) -> dict[str, Quantity]:
        """Operations, messages, and how many of those for x1 are needed for x2 as well."""
        length, way, K = axis("length", self.lengths), axis("way", WAYS), axis("K", self.counted)
        chains = [as_factors(_drawn(N, 2, rng)) for N in self.lengths]
        longest = [as_factors(_drawn(self.lengths[-1], k, rng)) for k in self.counted]
        cost = [[operations(chain, some) for chain in chains] for some in WAYS]
        grown = [[operations(chain, some) for chain in longest] for some in WAYS[1:]]
        passed = [factor_messages(two_passes(chain, "x1")) for chain in chains]
        return {
            "operations": over(cost, way, length),
            "state_operations": over(grown, axis("messages_for", WAYS[1:]), K),
            "messages": length.of([len(some) for some in passed]),
            "repeated_messages": length.of([repeated(chain) for chain in chains]),
            "complete_size": length.of([largest_product(N) for N in self.lengths]),
        }

    def _as_graphs(self) -> dict[str, Quantity]:
        """The directed chain made undirected: links added, statements lost and gained."""
        length = axis("length", self.lengths)
        graphs = [_directed_chain(N) for N in self.lengths]
        sides = [(stated(graph), stated_undirected(skeleton(graph))) for graph in graphs]
        added = [len(links(moral(graph))) - len(links(skeleton(graph))) for graph in graphs]
        return {
            "married": length.of(added),
            "independences_lost": length.of([len(ours - theirs) for ours, theirs in sides]),
            "independences_invented": length.of([len(theirs - ours) for ours, theirs in sides]),
        }


def _directed_chain(N: int) -> tuple[frozenset[int], ...]:
    return dag(N, [(n, n + 1) for n in range(N - 1)])


def _drawn(N: int, K: int, rng: Generator) -> Floats:
    return rng.uniform(0.1, 1.0, (N - 1, K, K))


def _tried(N: int, K: int, apart: frozenset[Statement], rng: Generator) -> Tried:
    psi = _drawn(N, K, rng)
    p = all_configurations(psi) / all_configurations(psi).sum()
    alpha, beta = forward(psi), backward(psi)
    sums = (alpha * beta).sum(-1)
    right = np.array([_summed(p, n) for n in range(N)])
    pairs = np.array([_summed(p, n, n + 1) for n in range(N - 1)])
    last = np.array([marginals(clamped(psi, N - 1, k))[:-1] for k in range(K)])
    ends = np.array([[_summed(p, n, N - 1)[:, k] for n in range(N - 1)] for k in range(K)])
    whole = rng.dirichlet(np.ones(K), (N - 1, K))  # p(x_{n+1} | x_n)
    start = rng.dirichlet(np.ones(K))
    joint = all_configurations(whole) * start.reshape([-1] + [1] * (N - 1))
    whole[0] *= start[:, None]  # (2.182)
    return Tried(
        error=off(marginals(psi), right),
        pair_error=off(neighbours(psi), pairs),
        normaliser_spread=float((sums.max() - sums.min()) / sums.max()),
        clamped_error=off(last, ends / ends.sum(-1, keepdims=True)),
        message_error=_message_error(psi, alpha, beta),
        separated_dependence=max(
            _dependence(p, s.a, s.b, s.given) for s in apart if len(s.given) in (1, N - 2)
        ),
        linked_dependence=min(
            _dependence(p, n, n + 1, frozenset(range(N)) - {n, n + 1}) for n in range(N - 1)
        ),
        directed_error=off(all_configurations(whole), joint),
        directed_total=float(backward(whole)[0].sum()),
    )


def _summed(p: Floats, *kept: int) -> Floats:
    return np.asarray(p.sum(tuple(k for k in range(p.ndim) if k not in kept)))


def _dependence(p: Floats, a: int, b: int, given: frozenset[int]) -> float:
    return dependence(p, frozenset([a]), frozenset([b]), given)


def _message_error(psi: Floats, alpha: Floats, beta: Floats) -> float:
    """Messages of the factor-graph code against those of the recursions."""
    messages = factor_messages(two_passes(as_factors(psi), "x1"))
    right = {(n, f"x{n + 2}"): alpha[n + 1] for n in range(len(psi))}
    right |= {(n, f"x{n + 1}"): beta[n] for n in range(len(psi))}
    return max(off(messages[link], message) for link, message in right.items())
