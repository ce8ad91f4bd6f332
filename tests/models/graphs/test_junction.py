"""Junction trees by networkx, their tables against every setting visited."""

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from graph_tables import drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.elimination import min_fill
from bythebook.models.graphs.factors import MAX_PRODUCT, Factor, clamp
from bythebook.models.graphs.junction import (
    JunctionTree,
    all_trees,
    disagreement,
    hugin,
    junction_tree,
    shafer_shenoy,
)
from bythebook.models.graphs.structure import all_undirected, undirected

NAMES = "abcdef"
LOOPY = ("ab", "bc", "cd", "da", "ce", "ef")


def loopy_tree() -> JunctionTree:
    graph = undirected(6, [(NAMES.index(i), NAMES.index(j)) for i, j in LOOPY])
    return junction_tree(graph, min_fill(graph))


def between(tree: JunctionTree, i: int, j: int) -> list[int]:
    links = nx.Graph(tree.tree)
    links.add_nodes_from(range(len(tree.cliques)))
    return list(nx.shortest_path(links, i, j))


def test_what_two_cliques_share_is_in_all_between_them() -> None:
    for graph in list(all_undirected(5))[5::31]:
        found = junction_tree(graph, min_fill(graph))
        for i, j in permutations(range(len(found.cliques)), 2):
            shared = found.cliques[i] & found.cliques[j]
            assert all(shared <= found.cliques[k] for k in between(found, i, j))
        assert found.runs
        for i, j in found.tree:
            assert found.separator((i, j)) == found.cliques[i] & found.cliques[j]


def test_all_trees_are_as_many_as_cayley_counts_and_the_heaviest_run() -> None:
    graph = undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5)])
    cliques = junction_tree(graph, min_fill(graph)).cliques
    trees = list(all_trees(cliques))
    assert len(trees) == 5**3
    most = max(tree.weight for tree in trees)
    for tree in trees:
        shared = [(tree.cliques[i] & tree.cliques[j], i, j) for i, j in permutations(range(5), 2)]
        runs = all(some <= cliques[k] for some, i, j in shared for k in between(tree, i, j))
        assert tree.runs == runs == (tree.weight == most)


@pytest.mark.parametrize("way", [hugin, shafer_shenoy])
@pytest.mark.parametrize("given", [{}, {"d": 2, "e": 0}])
def test_every_clique_holds_the_sum_over_all_others(way, given) -> None:  # type: ignore[no-untyped-def]
    factors = drawn(np.random.default_rng(1), *LOOPY)
    tree = loopy_tree()
    found = way(tree, NAMES, clamp(factors, given))
    for table in [*found.cliques, *found.separators.values()]:
        assert_allclose(table.table, visited(clamp(factors, given), table.variables), rtol=1e-12)
    assert len(found.separators) == len(tree.tree)


def test_maxima_take_the_place_of_sums() -> None:
    factors = drawn(np.random.default_rng(2), *LOOPY)
    for table in shafer_shenoy(loopy_tree(), NAMES, factors, MAX_PRODUCT).cliques:
        assert_allclose(table.table, visited(factors, table.variables, MAX_PRODUCT), rtol=1e-12)


def test_operations_of_two_cliques_by_hand() -> None:
    """Tables ab and bc of two states: potentials, messages, two beliefs and a separator."""
    ring, tally = counted()
    tree = JunctionTree([frozenset([0, 1]), frozenset([1, 2])], [(0, 1)])
    factors = [Factor(("a", "b"), np.ones((2, 2))), Factor(("b", "c"), np.ones((2, 2)))]
    shafer_shenoy(tree, "abc", factors, ring)
    start = 2 * (4 + 4)  # one times ones, times the factor
    messages = 2 * (4 + 2)  # one times the table; two sums of two
    beliefs, separator = 2 * (4 + 4), 2 + 2
    assert tally.operations == start + messages + beliefs + separator


def test_cliques_disagree_on_a_tree_that_does_not_run() -> None:
    """Tables ab, bc and ca in a row: both ends contain a, and no message connects them."""
    ab, bc, ca = factors = drawn(np.random.default_rng(3), "ab", "bc", "ca")
    tree = JunctionTree([frozenset([0, 1]), frozenset([1, 2]), frozenset([0, 2])], [(0, 1), (1, 2)])
    assert not tree.runs
    one = ab.table * (bc.table @ ca.table.sum(1))  # a, b
    other = ca.table * (ab.table.sum(0) @ bc.table)[:, None]  # c, a
    right = one.sum(1) / one.sum() - other.sum(0) / other.sum()
    assert disagreement(shafer_shenoy(tree, "abc", factors)) == pytest.approx(abs(right).max())
    assert disagreement(hugin(loopy_tree(), NAMES, drawn(np.random.default_rng(1), *LOOPY))) < 1e-14
