"""Independences of graphs: two algorithms, networkx, and distributions on the graph itself."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.structure import (
    Dag,
    Statement,
    Undirected,
    all_dags,
    all_directed,
    all_undirected,
    among,
    arrows,
    blanket,
    children,
    cliques,
    closure,
    d_separated,
    d_separated_by_paths,
    dag,
    is_chordal,
    links,
    moral,
    order,
    paths,
    separated,
    skeleton,
    stated,
    stated_undirected,
    statements,
    undirected,
)

DAGS = list(all_dags(4))
UNDIRECTED = list(all_undirected(4))


def as_directed(graph: Dag) -> nx.DiGraph:
    found = nx.DiGraph(arrows(graph))
    found.add_nodes_from(range(len(graph)))
    return found


def as_undirected(graph: Undirected) -> nx.Graph:
    found = nx.Graph(links(graph))
    found.add_nodes_from(range(len(graph)))
    return found


def some_dags(count: int, M: int = 6) -> list[Dag]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        names = rng.permutation(M)
        pairs = [(i, j) for i, j in combinations(range(M), 2) if rng.random() < 0.4]
        found.append(dag(M, [(int(names[i]), int(names[j])) for i, j in pairs]))
    return found


def test_all_graphs_are_there_once() -> None:
    # OEIS A003024 and 2^(M(M-1)/2)
    assert [len(set(all_dags(M))) for M in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert [len(set(all_undirected(M))) for M in (1, 2, 3, 4)] == [1, 2, 8, 64]
    assert len(set(all_directed(3))) == 27


def test_an_order_exists_exactly_without_a_cycle() -> None:
    for graph in all_directed(4):
        found = order(graph)
        assert (found is not None) == nx.is_directed_acyclic_graph(as_directed(graph))
        if found is not None:
            assert all(found.index(i) < found.index(j) for i, j in arrows(graph))


def test_d_separation_two_ways_and_by_networkx() -> None:
    answers = set()
    for graph in some_dags(12):
        theirs = as_directed(graph)
        for s in statements(6)[::3]:
            sets = (frozenset([s.a]), frozenset([s.b]), s.given)
            ours = d_separated(graph, *sets)
            assert ours == d_separated_by_paths(graph, *sets)
            assert ours == nx.is_d_separator(theirs, *map(set, sets))
            answers.add(ours)
    assert answers == {True, False}


def test_sets_are_separated_as_wholes() -> None:
    graph = dag(5, [(0, 2), (1, 2), (2, 3), (3, 4)])
    assert d_separated(graph, frozenset([0, 1]), frozenset([3, 4]), frozenset([2]))
    assert not d_separated(graph, frozenset([0]), frozenset([1, 3]), frozenset())
    assert not d_separated_by_paths(graph, frozenset([0]), frozenset([1]), frozenset([4]))


def test_a_distribution_on_the_graph_has_its_independences_and_no_others() -> None:
    """Random tables: generic ones have exactly the independences that the graph states."""
    rng = np.random.default_rng(7)
    for graph in some_dags(6, 4):
        factors = []
        for node, parents in enumerate(graph):
            table = rng.dirichlet(np.ones(2), [2] * len(parents))
            factors.append(Factor((*map(str, sorted(parents)), str(node)), table))
        joint = keep(product(factors), [str(i) for i in range(4)]).table
        assert stated(graph) == frozenset(s for s in statements(4) if holds(joint, s))


def holds(joint: np.ndarray, s: Statement) -> bool:
    """p(a, b, c) p(c) = p(a, c) p(b, c) for every state."""
    others = tuple(i for i in range(joint.ndim) if i not in {s.a, s.b} | s.given)
    p = joint.sum(others, keepdims=True)
    gap = p * p.sum((s.a, s.b), keepdims=True)
    gap = gap - p.sum(s.a, keepdims=True) * p.sum(s.b, keepdims=True)
    return bool(np.abs(gap).max() < 1e-12)


def test_undirected_separation_is_that_of_connected_parts() -> None:
    for graph in UNDIRECTED:
        for s in statements(4):
            left = as_undirected(graph)
            left.remove_nodes_from(s.given)
            apart = s.b not in nx.node_connected_component(left, s.a)
            assert separated(graph, frozenset([s.a]), frozenset([s.b]), s.given) == apart
            assert (s in stated_undirected(graph)) == apart


def test_moral_graphs_blankets_and_ancestors_are_networkx_own() -> None:
    for graph in DAGS[::7]:
        theirs = as_directed(graph)
        assert set(links(moral(graph))) == {(min(e), max(e)) for e in nx.moral_graph(theirs).edges}
        for node in range(4):
            assert blanket(graph, node) == moral(graph)[node]
            assert closure(graph, [node]) == nx.ancestors(theirs, node) | {node}
            assert children(graph, node) == set(theirs.successors(node))
        assert set(links(skeleton(graph))) == {(min(e), max(e)) for e in arrows(graph)}


def test_cliques_and_chords_are_networkx_own() -> None:
    for graph in UNDIRECTED:
        theirs = as_undirected(graph)
        assert set(cliques(graph)) == {frozenset(c) for c in nx.find_cliques(theirs)}
        assert is_chordal(graph) == nx.is_chordal(theirs)
    ring = undirected(5, [(i, (i + 1) % 5) for i in range(5)])
    assert not is_chordal(ring)


def test_paths_visit_no_node_twice() -> None:
    graph = undirected(4, [(0, 1), (1, 3), (0, 2), (2, 3), (1, 2)])
    ours = {tuple(path) for path in paths(graph, 0, 3)}
    assert ours == {tuple(path) for path in nx.all_simple_paths(as_undirected(graph), 0, 3)}


def test_links_among_some_nodes() -> None:
    graph = undirected(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert links(among(graph, frozenset([0, 1, 2]))) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("M", "count"), [(2, 1), (3, 6), (4, 24), (5, 80)])
def test_statements_are_pairs_times_subsets_of_the_rest(M: int, count: int) -> None:
    found = statements(M)
    assert len(set(found)) == len(found) == count
    assert all(s.a < s.b and not {s.a, s.b} & s.given for s in found)
