"""Clustering plots: panels, contours, mixed colours and offsets."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from bythebook.experiments.plotting.clustering import (
    cluster_colours,
    column_panels,
    covariance_contour,
    panel_grid,
    panel_sequence,
    plot_traces,
    strip_offsets,
)


def test_colours_are_mixed_in_proportion() -> None:
    found = cluster_colours(np.array([[1.0, 0.0], [0.25, 0.75]]))
    first, second = np.array(to_rgb("C0")), np.array(to_rgb("C1"))
    np.testing.assert_allclose(found, [first, 0.25 * first + 0.75 * second], atol=1e-12)


def test_equal_values_get_different_offsets() -> None:
    offsets = strip_offsets(np.array([1.0, 1.0, 1.0, 5.0]))
    assert len(np.unique(offsets[:3])) == 3
    assert offsets[3] == 0
    assert np.abs(offsets).max() < 0.3
    assert strip_offsets(np.array([])).size == 0
    assert len(np.unique(strip_offsets(np.full(4, 2.0)))) == 4


def test_the_contour_is_one_standard_deviation_away() -> None:
    ax = Figure().subplots()
    mu, Sigma = np.array([1.0, 2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    covariance_contour(ax, mu, Sigma, "C0")
    curve = ax.lines[0].get_xydata() - mu
    distance = np.einsum("ni,ij,nj->n", curve, np.linalg.inv(Sigma), curve)
    np.testing.assert_allclose(distance, 1, rtol=1e-10)


def test_a_grid_is_at_most_as_wide_as_a_page() -> None:
    figure, axes = panel_grid(2, 3, 0.5)
    wide, tall = figure.get_size_inches()
    assert axes.shape == (2, 3)
    assert wide < 10
    assert 0.5 < tall / (2 * wide / 3) < 0.8


@pytest.mark.parametrize(("count", "columns"), [(1, 3), (3, 3), (4, 3), (5, 2)])
def test_unused_panels_are_hidden(count: int, columns: int) -> None:
    figure, used = column_panels(count, columns)
    assert [ax for ax in figure.axes if ax.axison] == used
    assert len(used) == count
    assert len(figure.axes) - count < min(count, columns)


@pytest.mark.parametrize(("steps", "empty"), [(4, 0), (6, 0), (7, 1), (8, 0), (9, 0), (10, 2)])
def test_a_sequence_leaves_few_panels_unused(steps: int, empty: int) -> None:
    figure, shown = panel_sequence([f"step {i}" for i in range(steps)], ("x", "y"))
    assert shown[0].get_title() == "(a) step 0"
    assert len(shown) == steps
    assert len(figure.axes) - steps == empty


def test_traces_have_one_entry_in_the_legend() -> None:
    ax = Figure().subplots()
    plot_traces(ax, np.arange(12.0).reshape(3, 4), "starts")
    assert [list(line.get_ydata()) for line in ax.lines[:3]] == np.arange(12.0).reshape(
        3, 4
    ).tolist()
    assert ax.get_legend_handles_labels()[1] == ["starts"]
