"""Random directed and undirected graphs with a random joint table, for equations about graphs."""

from itertools import combinations

from numpy.random import Generator

from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.independence import directed_tables, joint_of
from bythebook.models.graphs.structure import Dag, Undirected, dag, undirected
from bythebook.models.types import Floats


def random_dag(rng: Generator, M: int, share: float = 0.5) -> Dag:
    """A directed graph without cycles; each pair of nodes has an arrow with probability `share`."""
    names = rng.permutation(M)
    pairs = [pair for pair in combinations(range(M), 2) if rng.random() < share]
    return dag(M, [(int(names[i]), int(names[j])) for i, j in pairs])


def random_graph(rng: Generator, M: int, share: float = 0.5) -> Undirected:
    """An undirected graph; each pair of nodes has a link with probability `share`."""
    return undirected(M, [pair for pair in combinations(range(M), 2) if rng.random() < share])


def random_tree(rng: Generator, M: int) -> Undirected:
    """A tree: each node is linked with one of the nodes before it, under random names."""
    names = rng.permutation(M)
    return undirected(M, [(int(names[rng.integers(i)]), int(names[i])) for i in range(1, M)])


def random_tables(rng: Generator, graph: Dag) -> tuple[list[Factor], Floats]:
    """A conditional table for each node given its parents, and their product."""
    tables = directed_tables(graph, int(rng.integers(2, 4)), rng)
    return tables, joint_of(tables, len(graph))
