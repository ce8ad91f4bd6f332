"""All graphs of a few nodes: against known counts, hand-made cases and distributions."""

from itertools import combinations

import numpy as np
import pytest

from bythebook.models.graphs.census import (
    Triple,
    copies,
    derived,
    directed_graphs,
    directed_stating,
    global_statements,
    is_ring,
    is_tree,
    local_statements,
    pairwise_statements,
    shapes,
    triples,
    undirected_stating,
    unmonotone,
)
from bythebook.models.graphs.independence import dependence, undirected_joint
from bythebook.models.graphs.structure import all_undirected, dag, stated, undirected

CHAIN = undirected(3, [(0, 1), (1, 2)])
COLLIDER = dag(3, [(0, 2), (1, 2)])


def test_counts_and_classes_that_are_known() -> None:
    # Numbers of graphs, directed acyclic graphs and their classes (OEIS A006125, A003024, A007984).
    assert [len(undirected_stating(M)) for M in (1, 2, 3)] == [1, 2, 8]
    assert [len(directed_graphs(M)) for M in (1, 2, 3)] == [1, 3, 25]
    assert [len(directed_stating(M)) for M in (1, 2, 3)] == [1, 2, 11]
    assert directed_stating(3)[stated(COLLIDER)] == 1
    assert [len(shapes(M)) for M in (1, 2, 3, 4)] == [1, 2, 4, 11]  # A000088


def test_trees_and_rings() -> None:
    # Cayley: n^(n-2) trees; (n-1)!/2 rings.
    assert sum(map(is_tree, all_undirected(4))) == 16
    assert sum(map(is_ring, all_undirected(4))) == 3
    assert not is_ring(undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]))


def test_statements_of_three_nodes() -> None:
    # Ordered pairs of disjoint sets that are not empty, each with any set of the rest.
    assert len(set(triples(3))) == 18
    assert global_statements(CHAIN) == {
        Triple(frozenset([a]), frozenset([2 - a]), frozenset([1])) for a in (0, 2)
    }
    assert global_statements(CHAIN) == local_statements(CHAIN) == pairwise_statements(CHAIN)


@pytest.mark.parametrize("positive", [True, False])
def test_what_is_derived_holds_where_the_premises_do(positive: bool) -> None:
    # Every table on a graph is positive: it has all consequences of its statements.
    rng = np.random.default_rng(6)
    for graph in shapes(4):
        joint = undirected_joint(graph, 2, rng)
        for t in derived(pairwise_statements(graph), positive=positive):
            assert dependence(joint, *t) <= 1e-12


def test_rules_one_by_one() -> None:
    a, b, c, none = frozenset([0]), frozenset([1]), frozenset([2]), frozenset[int]()
    split = derived({Triple(a, b | c, none)}, positive=False)
    assert {Triple(a, b, none), Triple(a, c, b), Triple(b | c, a, none)} <= split
    joined = derived({Triple(a, b, none), Triple(a, c, b)}, positive=False)
    assert Triple(a, b | c, none) in joined
    crossed = {Triple(a, b, c), Triple(a, c, b)}
    assert Triple(a, b | c, none) in derived(crossed, positive=True)
    assert Triple(a, b | c, none) not in derived(crossed, positive=False)


def test_copies_of_a_coin_break_the_last_rule() -> None:
    joint = copies(3)
    for i, j in combinations(range(3), 2):
        rest = frozenset(range(3)) - {i, j}
        assert dependence(joint, frozenset([i]), frozenset([j]), rest) == 0
        assert dependence(joint, frozenset([i]), frozenset([j]), frozenset()) == 0.25


def test_what_is_lost_when_more_is_given() -> None:
    assert unmonotone(stated(COLLIDER), 3) == 1
    assert all(unmonotone(said, 3) == 0 for said in undirected_stating(3))
