"""Graph layouts, and plots of nodes, links and labels."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from bythebook.experiments.plotting import graphs

STUDENT = {"C": "", "D": "C", "I": "", "G": "ID", "S": "I", "L": "G", "J": "LS", "H": "GJ"}
PAIRS = [(p, name) for name, above in STUDENT.items() for p in above]


def test_children_are_below_their_parents() -> None:
    places = graphs.layered_layout({name: list(above) for name, above in STUDENT.items()})
    assert all(places[parent][1] > places[child][1] for parent, child in PAIRS)


def test_no_node_lies_on_a_line_of_others() -> None:
    more = [("D", "I"), ("G", "J"), ("L", "S")]
    places = graphs.layered_layout({name: list(above) for name, above in STUDENT.items()}, more)
    for a, b in PAIRS + more:
        line = np.linspace(places[a], places[b], 200)
        for other in set(places) - {a, b}:
            assert np.linalg.norm(line - places[other], axis=1).min() > 0.2
    for a, b in combinations(places, 2):
        assert np.linalg.norm(np.subtract(places[a], places[b])) > 0.3


def test_a_circular_layout_starts_at_the_top() -> None:
    places = graphs.circular_layout("abcd")
    assert places["a"] == pytest.approx((0, 1))
    assert places["b"] == pytest.approx((1, 0))


def test_a_tree_extends_to_the_right_without_crossings() -> None:
    places = graphs.tree_layout("a", {"a": "bc", "c": "de"})
    assert places == {"a": (0, -0.75), "b": (1, 0), "c": (1, -1.5), "d": (2, -1), "e": (2, -2)}


def test_an_edge_label_is_on_the_left_of_its_direction() -> None:
    ax = Figure().subplots()
    graphs.edge_labels(ax, {"a": (0, 0), "b": (2, 0)}, {("a", "b"): "up", ("b", "a"): "down"})
    assert [note.xyann for note in ax.texts] == [(0, 10), (0, -10)]
    assert ax.texts[0].xy == (1, 0)


def test_every_link_arrow_and_node_is_drawn() -> None:
    ax = Figure().subplots()
    places = graphs.circular_layout("abc")
    graphs.links(ax, places, [("a", "b")], color="C0")
    graphs.arrows(ax, places, [("b", "c"), ("c", "a")])
    graphs.nodes(ax, places, "b")
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    assert len(ax.patches) == 2
    assert len(ax.lines) == 4
