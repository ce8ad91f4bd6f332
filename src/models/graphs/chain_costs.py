"""Numbers of operations for marginals of a chain, counted during the computation (PRML 8.4.1)."""

from itertools import combinations

import numpy as np

from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.elimination import eliminate
from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.propagation import (
    FactorGraph,
    Messages,
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


def factor_messages(messages: Messages) -> dict[tuple[int, str], Floats]:
    """The messages of factors to variables, which on a chain are mu_alpha and mu_beta."""
    found = {}
    for (sender, receiver), message in messages.items():
        if isinstance(sender, int) and isinstance(receiver, str):
            found[sender, receiver] = message
    return found


def repeated(graph: FactorGraph) -> float:
    """The share of the messages for the first node that are also among those for the second."""
    first, second = (factor_messages(inward(graph, name)) for name in ("x1", "x2"))
    same = [link in second and np.array_equal(first[link], second[link]) for link in first]
    return float(np.mean(same))


def largest_product(N: int) -> int:
    """Variables of the largest table if all N nodes were linked and summed out one by one."""
    pairs = combinations([f"x{n}" for n in range(N)], 2)
    found = eliminate(
        [Factor(pair, np.ones((2, 2))) for pair in pairs], [f"x{n}" for n in range(1, N)]
    )
    return max(len(step.product) for step in found.steps)
