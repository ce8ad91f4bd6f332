r"""One setting for a whole distribution: four ways to choose it, and what they cost (MLAPP 17.4.4).

    MAP      argmax over q of sum over n of p(q, n)        what is asked for, all else summed out
    MPE      argmax over q, n of p(q, n)                     all else maximised out
    MPM      argmax of each variable's own marginal                                          17.70
    maxed    argmax of each variable's maximum over all others                                17.71

Sums and maxima do not commute: MAP has to sum before it maximises, whatever that costs.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from models.graphs.elimination import eliminate, induced, treewidth
from models.graphs.factors import MAX_PRODUCT, Factor, best, keep, normalised, product, scope
from models.graphs.structure import Nodes, Undirected, among
from models.types import Floats

State = tuple[int, ...]


class Estimates(NamedTuple):
    """Settings of the variables asked for, in their order; and their distribution."""

    map: State
    mpe: State
    mpm: State
    maxed: State
    p: Floats  # an axis for each variable asked for

    def wrong(self, state: State) -> float:
        """How many of the variables are expected to be in another state."""
        axes = range(self.p.ndim)
        return sum(
            1 - float(self.p.sum(tuple(j for j in axes if j != i))[k]) for i, k in enumerate(state)
        )


def estimates(factors: Sequence[Factor], of: Sequence[str]) -> Estimates:
    """All four of a product of tables."""
    joint = product(factors)
    asked = normalised(keep(joint, of))
    whole, some = best(joint), best(asked)
    return Estimates(
        tuple(some[name] for name in of),
        tuple(whole[name] for name in of),
        tuple(int(np.argmax(keep(asked, [name]).table)) for name in of),
        tuple(int(np.argmax(_max_marginal(factors, name))) for name in of),
        asked.table,
    )


def _max_marginal(factors: Sequence[Factor], name: str) -> Floats:
    """The largest probability with each state of a variable, others maximised out one by one."""
    order = [other for other in scope(factors) if other != name]
    return np.asarray(eliminate(factors, order, MAX_PRODUCT).answer.table)


def summed_first_width(graph: Undirected, kept: Nodes) -> int:
    """The least width of all orders that take everything else away before the nodes of `kept`."""
    ways = permutations(sorted(set(range(len(graph))) - kept))
    first = [induced(graph, way) for way in ways]
    return min(
        max([found.width if found.cliques else 0, treewidth(among(found.graph, kept))])
        for found in first
    )
