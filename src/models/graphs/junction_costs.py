"""Numbers of operations for messages between cliques of increasing size."""

from itertools import combinations

import numpy as np

from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.junction import JunctionTree, junction_tree, shafer_shenoy
from bythebook.models.graphs.structure import undirected

CLIQUES = 6


def in_a_row(size: int) -> JunctionTree:
    """Nodes in a row, any `size` neighbours of them linked; the number of cliques is fixed."""
    N = size + CLIQUES - 1
    graph = undirected(N, [(i, j) for i, j in combinations(range(N), 2) if j - i < size])
    return junction_tree(graph, range(N))


def operations(size: int) -> int:
    """Additions and multiplications of messages both ways and of all beliefs, binary nodes."""
    tree = in_a_row(size)
    pairs = {pair for clique in tree.cliques for pair in combinations(sorted(clique), 2)}
    factors = [Factor((f"x{i}", f"x{j}"), np.ones((2, 2))) for i, j in sorted(pairs)]
    ring, tally = counted()
    shafer_shenoy(tree, [f"x{k}" for k in range(size + CLIQUES - 1)], factors, ring)
    return tally.operations
