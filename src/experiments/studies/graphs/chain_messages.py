"""The cost of marginals of a chain, by messages and without, counted (PRML 8.4.1)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.graphs.chain_costs import WAYS, as_factors, operations, shared_messages
from bythebook.models.graphs.propagation import FactorGraph
from bythebook.models.graphs.structure import dag, skeleton, stated, stated_undirected

MESSAGES = WAYS[1:]  # the ways whose costs are powers of the number of states


@dataclass
class ChainMessages(Study):
    """Operations for the marginals of chains, and their independence statements (PRML 8.4.1).

    Potentials are drawn between 0.1 and 1. Costs against the length are for two states, and costs
    against the number of states for the longest chain.
    """

    headline = {"operations": "last(operations['one node'])"}
    quantities = {
        "operations": quantity("additions and multiplications, for two states", "way length"),
        "operations_by_states": quantity(
            "additions and multiplications, for the longest chain", "message_way states"
        ),
        "shared_messages": quantity(
            "share of the messages for the first node that are also sent for the second", "length"
        ),
        "statements": quantity(
            "conditional independence statements of the directed and the undirected chain",
            "graph length",
        ),
    }
    axes = {
        "way": axis_of("how marginals are computed"),
        "message_way": axis_of("how marginals are computed"),
        "length": axis_of("number of nodes"),
        "states": axis_of("number of states"),
        "graph": axis_of("graph, or statements that both have"),
    }

    lengths: list[int] = knob(
        [4, 5, 6], "nodes of the chains", at_least=3, at_most=9, distinct=True
    )
    states: list[int] = knob(
        [50, 100], "states of each node of the longest chain", at_least=2, distinct=True
    )

    def run(self, rng: Generator) -> Outcome:
        chains = [_chain(N, 2, rng) for N in self.lengths]
        longest = [_chain(self.lengths[-1], K, rng) for K in self.states]
        directed = [dag(N, [(n, n + 1) for n in range(N - 1)]) for N in self.lengths]
        sides = [(stated(graph), stated_undirected(skeleton(graph))) for graph in directed]
        counts = [(len(one), len(other), len(one & other)) for one, other in sides]
        return outcome(
            {
                "way": WAYS,
                "message_way": MESSAGES,
                "length": self.lengths,
                "states": self.states,
                "graph": ["directed", "undirected", "both"],
            },
            operations=("way length", [[operations(one, way) for one in chains] for way in WAYS]),
            operations_by_states=(
                "message_way states",
                [[operations(one, way) for one in longest] for way in MESSAGES],
            ),
            shared_messages=("length", [shared_messages(one) for one in chains]),
            statements=("graph length", np.transpose(counts)),
        )


def _chain(N: int, K: int, rng: Generator) -> FactorGraph:
    return as_factors(rng.uniform(0.1, 1.0, (N - 1, K, K)))
