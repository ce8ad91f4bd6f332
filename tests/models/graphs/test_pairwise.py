"""Parallel messages: on trees against the joint table, on a loop against the factor graph's."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bythebook.models.graphs.factors import keep, normalised, product
from bythebook.models.graphs.pairwise import (
    Field,
    beliefs,
    exact,
    grid,
    length,
    node_by_node,
    ones,
    pass_on,
    random_tree,
    rounds,
    shaped,
)
from bythebook.models.graphs.propagation import factor_graph, marginal, two_passes


def drawn(links: np.ndarray, K: int, seed: int, *batch: int) -> Field:
    rng = np.random.default_rng(seed)
    N = int(links.max()) + 1
    nodes = rng.uniform(0.2, 2.0, (*batch, N, K))
    return Field(nodes, links, rng.uniform(0.2, 2.0, (*batch, len(links), K, K)))


def summed(field: Field) -> np.ndarray:
    joint = product(field.factors())
    names = [f"x{s}" for s in range(len(field.nodes))]
    return np.array([normalised(keep(joint, [name])).table for name in names])


@pytest.mark.parametrize("seed", range(4))
def test_on_a_tree_beliefs_are_right_after_as_many_rounds_as_it_is_long(seed: int) -> None:
    links = random_tree(7, np.random.default_rng(seed))
    field, length = drawn(links, 3, seed), nx.diameter(nx.Graph(links.tolist()))
    off = []
    for messages, _ in zip(rounds(field), range(length + 3), strict=False):
        off.append(np.abs(beliefs(field, messages) - summed(field)).max())
    assert max(off[length:]) < 1e-12 < min(off[:length])


def test_many_fields_at_once_are_many_one_by_one() -> None:
    links = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    many = drawn(links, 2, 5, 4)
    together = pass_on(many, pass_on(many, ones(many)))
    for k, one in enumerate(many.each()):
        assert_allclose(together[k], pass_on(one, pass_on(one, ones(one))), rtol=1e-13)
        assert_allclose(beliefs(many, together)[k], beliefs(one, together[k]))


def test_a_tree_agrees_with_two_passes_of_the_factor_graph() -> None:
    field = drawn(random_tree(6, np.random.default_rng(9)), 2, 9)
    graph = factor_graph(field.factors())
    messages = two_passes(graph, "x0")
    *_, last = (m for m, _ in zip(rounds(field), range(8), strict=False))
    for s, belief in enumerate(beliefs(field, last)):
        found = marginal(graph, messages, f"x{s}")
        assert_allclose(belief, found / found.sum(), rtol=1e-12)


def test_a_ring_settles_on_an_eigenvector() -> None:
    """Once round a ring a message is multiplied by the product of the tables on it (Weiss 2000)."""
    links = np.array([[0, 1], [1, 2], [2, 0]])
    field = drawn(links, 3, 11)
    *_, last = (m for m, _ in zip(rounds(field), range(150), strict=False))
    around = np.eye(3)
    for e in range(3):
        around = around @ (field.nodes[e][:, None] * field.tables[e])
    values, right = np.linalg.eig(around)
    lefts, left = np.linalg.eig(around.T)
    belief = np.real(right[:, np.argmax(values)] * left[:, np.argmax(lefts)]) / field.nodes[0]
    assert_allclose(
        beliefs(field, last)[0], field.nodes[0] * belief / (field.nodes[0] * belief).sum()
    )


def test_damping_keeps_its_share() -> None:
    field = drawn(grid(2, 3), 2, 12)
    start, new, *_ = (m for m, _ in zip(rounds(field, 0.25), range(2), strict=False))
    assert_allclose(new, 0.25 * start + 0.75 * pass_on(field, start))


def test_lattices_and_trees_have_the_links_they_should() -> None:
    theirs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))
    assert set(map(tuple, grid(3, 4).tolist())) == {tuple(sorted(e)) for e in theirs.edges}
    for seed in range(5):
        assert nx.is_tree(nx.Graph(random_tree(9, np.random.default_rng(seed)).tolist()))
    assert_array_equal(grid(1, 2), [[0, 1]])


def test_marginals_of_all_configurations_are_those_of_the_joint_table() -> None:
    many = drawn(grid(2, 3), 3, 13, 2)
    for found, one in zip(exact(many), many.each(), strict=True):
        assert_allclose(found, summed(one), rtol=1e-12)


def test_diameters_are_networkx_own() -> None:
    for seed in range(5):
        links = random_tree(8, np.random.default_rng(seed))
        assert length(links, 8) == nx.diameter(nx.Graph(links.tolist()))
    assert length(grid(3, 4), 12) == 5


def test_nodes_in_turn_reach_as_far_as_their_order_lets_them() -> None:
    """On a chain one pass from the left reaches the last node, and not the first."""
    field = drawn(np.array([[0, 1], [1, 2]]), 2, 14)
    right = np.abs(beliefs(field, node_by_node(field, np.arange(3))) - summed(field)).max(1)
    assert right[2] < 1e-12
    assert right[0] > 1e-6
    both = node_by_node(field, np.array([0, 1, 2, 1, 0]))
    assert_allclose(beliefs(field, both), summed(field), rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "links"), [("tree", 8), ("ring", 9), ("grid", 12), ("complete", 36)]
)
def test_shapes_have_as_many_links_as_they_should(shape: str, links: int) -> None:
    found = nx.Graph(shaped(shape, 9, np.random.default_rng(1)).tolist())
    assert (found.number_of_nodes(), found.number_of_edges()) == (9, links)
    assert nx.is_connected(found)
