"""Numbers of operations for marginals of a chain, counted during the computation (PRML 8.4.1)."""

import numpy as np

from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.propagation import (
    FactorGraph,
    factor_graph,
    inward,
    marginal,
    two_passes,
)
from bythebook.models.types import Floats

WAYS = ("all configurations", "one node", "every node apart", "every node, messages kept")


def as_factors(psi: Floats) -> FactorGraph:
    """The factor graph of a chain with potentials (N - 1, K, K); nodes are called x1, x2, ..."""
    return factor_graph(
        [Factor((f"x{n}", f"x{n + 1}"), psi[n - 1]) for n in range(1, len(psi) + 1)]
    )


def operations(graph: FactorGraph, way: str) -> int:
    """Additions and multiplications for the marginal of the middle node, or for all nodes."""
    ring, tally = counted()
    names = list(graph.states)
    middle = names[len(names) // 2]
    if way == "all configurations":
        keep(product(graph.factors, ring), [middle], ring)
    elif way == "every node, messages kept":
        messages = two_passes(graph, middle, ring)
        for name in names:
            marginal(graph, messages, name, ring)
    else:
        for name in [middle] if way == "one node" else names:
            marginal(graph, inward(graph, name, ring), name, ring)
    return tally.operations


def shared_messages(graph: FactorGraph) -> float:
    """The share of the messages for the first node that are also sent for the second, in value.

    These are messages of factors to variables, which on a chain are mu_alpha and mu_beta.
    """
    first, second = (inward(graph, name) for name in ("x1", "x2"))
    links = [link for link in first if isinstance(link[0], int)]
    same = [link in second and np.array_equal(first[link], second[link]) for link in links]
    return float(np.mean(same))
