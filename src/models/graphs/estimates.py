r"""Four point estimates of a discrete distribution, and their cost (MLAPP 17.4.4).

    MAP      argmax over q of sum over n of p(q, n)          q is the query, all else summed out
    MPE      argmax over q, n of p(q, n)                     all else maximised out
    MPM      argmax of each variable's own marginal                                          17.70
    maxed    argmax of each variable's maximum over all others                                17.71

Sums and maxima do not commute: MAP has to sum before it maximises, at a higher cost.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.elimination import eliminate, induced, treewidth
from bythebook.models.graphs.factors import (
    MAX_PRODUCT,
    Factor,
    best,
    keep,
    normalised,
    product,
    scope,
)
from bythebook.models.graphs.structure import Nodes, Undirected, among
from bythebook.models.types import Floats

State = tuple[int, ...]


class Estimates(NamedTuple):
    """Settings of the query variables, in their order, and their distribution."""

    map: State
    mpe: State
    mpm: State
    maxed: State
    p: Floats  # an axis for each query variable

    def wrong(self, state: State) -> float:
        """The expected number of variables in another state."""
        axes = range(self.p.ndim)
        return sum(
            1 - float(self.p.sum(tuple(j for j in axes if j != i))[k]) for i, k in enumerate(state)
        )


def estimates(factors: Sequence[Factor], of: Sequence[str]) -> Estimates:
    """All four estimates for a product of tables."""
    joint = product(factors)
    query = normalised(keep(joint, of))
    whole, some = best(joint), best(query)
    return Estimates(
        tuple(some[name] for name in of),
        tuple(whole[name] for name in of),
        tuple(int(np.argmax(keep(query, [name]).table)) for name in of),
        tuple(int(np.argmax(_max_marginal(factors, name))) for name in of),
        query.table,
    )


def _max_marginal(factors: Sequence[Factor], name: str) -> Floats:
    """The largest probability with each state of a variable, others maximised out one by one."""
    order = [other for other in scope(factors) if other != name]
    return np.asarray(eliminate(factors, order, MAX_PRODUCT).answer.table)


def summed_first_width(graph: Undirected, kept: Nodes) -> int:
    """The minimum width of all orders that eliminate everything else before the nodes of `kept`."""
    ways = permutations(sorted(set(range(len(graph))) - kept))
    first = [induced(graph, way) for way in ways]
    return min(
        max([found.width if found.cliques else 0, treewidth(among(found.graph, kept))])
        for found in first
    )
