"""Classification plots: positions of points, regions, boundaries and lines."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.plotting import classification

RNG = np.random.default_rng(3)
X, T = RNG.normal(size=(12, 2)), np.repeat([0, 1, 2], 4)
POINT, PLANE = axis("point", 12), axis("coordinate", 2)
OUTCOME = Outcome(inputs=over(X, POINT, PLANE), label=POINT.of(T))
GRID = np.linspace(-2, 2, 41)


@pytest.fixture
def ax() -> Axes:
    found: Axes = Figure().subplots()
    return found


def plane(values: object) -> Quantity:
    return over(values, axis("x2", GRID), axis("x1", GRID))


def test_every_point_is_drawn_once_with_its_class(ax: Axes) -> None:
    classification.labelled_points(ax, OUTCOME, ["a", "b", "c"])
    assert [line.get_label() for line in ax.lines] == ["a", "b", "c"]
    for k, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xydata(), X[k == T])
    looks = {(line.get_color(), line.get_marker()) for line in ax.lines}
    assert len(looks) == 3
    with pytest.raises(ValueError, match="zip"):
        classification.scatter(ax, X, T, ["a", "b"])  # a class without a name


def test_a_panel_for_each_title_and_hidden_axes_for_the_others() -> None:
    figure, used = classification.map_panels(OUTCOME, "abc", ["one", "two", "three", "four"])
    assert [ax.get_title() for ax in used] == ["one", "two", "three", "four"]
    assert all(len(ax.lines) == 3 for ax in used)
    assert [ax for ax in figure.axes if ax.axison] == used


def test_the_boundary_of_a_region(ax: Axes) -> None:
    x1, x2 = np.meshgrid(GRID, GRID)
    classification.decision_regions(ax, plane(x1 > 0.5 * x2))
    edge = ax.collections[-1].get_paths()[0].vertices
    assert np.abs(edge[:, 0] - 0.5 * edge[:, 1]).max() <= GRID[1] - GRID[0]
    before = len(ax.collections)
    classification.decision_regions(
        ax, plane(np.zeros((41, 41), dtype=bool))
    )  # no region and no boundary
    assert len(ax.collections) == before


def test_a_contour_has_its_probability(ax: Axes) -> None:
    x1, x2 = np.meshgrid(GRID, GRID)
    classification.probability_lines(ax, plane(1 / (1 + np.exp(-x1 - 2 * x2))), (0.25, 0.5))
    (lines,) = ax.collections
    for level, path in zip((0.25, 0.5), lines.get_paths(), strict=True):
        a = path.vertices @ [1, 2]
        np.testing.assert_allclose(1 / (1 + np.exp(-a)), level, atol=2e-3)
    assert {text.get_text() for text in ax.texts} == {"0.25", "0.5"}


def test_lines_follow_their_weights(ax: Axes) -> None:
    w = RNG.normal(size=(5, 2))
    classification.lines_through_origin(ax, w)
    for weights, line in zip(w, ax.lines, strict=True):
        np.testing.assert_allclose(line.get_xydata() @ weights, 0, atol=1e-12)
    line = np.array([1.5, -0.5, 0.25])
    classification.line_across(ax, line, 1.0, X)
    ends = ax.lines[-1].get_xydata()
    np.testing.assert_allclose(ends @ line[:2] + line[2], 1.0, rtol=1e-12)
    assert np.linalg.norm(ends[1] - ends[0]) > np.abs(X).max() * 4


def test_the_symbols_of_the_book(ax: Axes) -> None:
    classification.plot_two_classes(ax, OUTCOME)
    assert [line.get_marker() for line in ax.lines] == ["o", "s"]
    assert [len(line.get_xdata()) for line in ax.lines] == [4, 4]
    classification.mark_points(ax, X[:2], "support")
    np.testing.assert_array_equal(ax.lines[-1].get_xydata(), X[:2])
