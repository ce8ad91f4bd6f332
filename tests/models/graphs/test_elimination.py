"""Elimination against every setting visited; widths against all orders."""

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from graph_tables import drawn, visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.elimination import (
    Step,
    eliminate,
    induced,
    min_fill,
    treewidth,
)
from bythebook.models.graphs.factors import MAX_PRODUCT, MIN_SUM, SUM_PRODUCT, Semiring, keep
from bythebook.models.graphs.structure import all_undirected, is_chordal, links, undirected

LOOPY = ("ab", "bc", "cd", "da", "ce", "ef")


@pytest.mark.parametrize("ring", [SUM_PRODUCT, MAX_PRODUCT, MIN_SUM])
@pytest.mark.parametrize("order", ["acef", "fcea", "ecfa"])
def test_any_order_gives_the_sum_over_every_setting(ring: Semiring, order: str) -> None:
    factors = drawn(np.random.default_rng(1), *LOOPY)
    answer = keep(eliminate(factors, order, ring).answer, "db", ring)
    assert_allclose(answer.table, visited(factors, "db", ring), rtol=1e-12)


def test_scopes_and_operations_are_those_counted_by_hand() -> None:
    """The chain a - b - c: p(c) in the order a, b, and with three states each."""
    found = eliminate(drawn(np.random.default_rng(2), "ab", "bc"), "ab")
    assert found.steps == [Step("a", 1, ("a", "b"), ("b",)), Step("b", 2, ("b", "c"), ("c",))]
    assert found.left == 1
    # nine products with the message over b; sums of three for each of three states, twice
    assert found.operations(3) == 9 + 2 * (2 * 3)


def test_what_is_left_is_multiplied_at_the_end() -> None:
    found = eliminate(drawn(np.random.default_rng(2), "ab", "cb", "ac"), "a")
    assert (found.left, found.answer.variables) == (2, ("c", "b"))
    assert found.operations(2) == 2**3 + 2**2 + 2**2


def test_scopes_are_known_from_the_graph_alone() -> None:
    factors = drawn(np.random.default_rng(3), *LOOPY)
    graph = undirected(6, [("abcdef".index(i), "abcdef".index(j)) for i, j in LOOPY])
    for order in list(permutations("abcdef"))[::37]:
        made = [set(step.product) for step in eliminate(factors, order).steps]
        played = induced(graph, ["abcdef".index(name) for name in order]).cliques
        assert made == [{"abcdef"[i] for i in clique} for clique in played]


def test_the_induced_graph_is_chordal_and_its_cliques_are_those_of_the_order() -> None:
    for graph in list(all_undirected(5))[::29]:
        found = induced(graph, [3, 0, 4, 1, 2])
        assert is_chordal(found.graph)
        new = {pair for pairs in found.fill_in for pair in pairs}
        assert new == set(links(found.graph)) - set(links(graph))
        assert {c for c in found.cliques if not any(c < d for d in found.cliques)} == set(
            found.maximal
        )
        assert found.width == max(map(len, found.maximal)) - 1


def test_neighbours_are_linked_when_a_node_goes() -> None:
    ring = undirected(5, [(i, (i + 1) % 5) for i in range(5)])
    assert induced(ring, [0, 1, 2, 3, 4]).fill_in == [[(1, 4)], [(2, 4)], [], [], []]


def test_treewidth_is_the_least_of_all_orders() -> None:
    for graph in list(all_undirected(5))[::13]:
        least = min(induced(graph, order).width for order in permutations(range(5)))
        assert treewidth(graph) == least
        assert induced(graph, min_fill(graph)).width >= least


@pytest.mark.parametrize(("rows", "columns", "width"), [(2, 4, 2), (3, 3, 3), (3, 4, 3)])
def test_a_grid_is_as_wide_as_its_shorter_side(rows: int, columns: int, width: int) -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    graph = undirected(rows * columns, grid.edges)
    assert treewidth(graph) == width
    assert induced(graph, min_fill(graph)).width == width


def test_greedy_orders_end_with_the_query() -> None:
    graph = undirected(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert sorted(min_fill(graph, frozenset([2]))) == [0, 1, 3]
    tree = undirected(5, [(0, 1), (0, 2), (2, 3), (2, 4)])
    assert not any(induced(tree, min_fill(tree)).fill_in)
