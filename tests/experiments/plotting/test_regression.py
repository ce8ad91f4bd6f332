"""Regression plots: panels with labels, fits, bands and axis limits."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from bythebook.experiments.plotting import regression
from bythebook.models.datasets import load


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_only_outer_panels_have_labels(count: int) -> None:
    figure, used = regression.panel_tiles(count, "input", "target")
    assert figure.axes == used
    assert len(used) == count
    columns = {1: 1, 3: 3}.get(count, 2)  # three panels are in one row
    below = [ax.get_xlabel() for ax in used]
    assert below == [""] * (count - columns) + ["input"] * columns
    assert [ax.get_ylabel() for ax in used] == [
        "target" if i % columns == 0 else "" for i in range(count)
    ]


def test_a_fit_outside_the_axes_does_not_change_their_limits() -> None:
    ax = Figure().subplots()
    x, t = np.arange(5.0), np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    regression.plot_fit(ax, x, t, x, t, 1000 * t)
    assert ax.get_ylim() == (0.0, 6.0)  # a quarter of the range of 4 on either side
    assert [line.get_label() for line in ax.lines] == ["data", "true curve", "fit"]


def test_curves_have_one_entry_in_the_legend() -> None:
    ax = Figure().subplots()
    grid, fits = np.linspace(0, 1, 7), np.arange(21.0).reshape(3, 7)
    regression.plot_curves(ax, grid, fits, "fits")
    for line, values in zip(ax.lines, fits, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert ax.get_legend_handles_labels()[1] == ["fits"]


def test_a_band_fills_the_area_between_two_curves() -> None:
    ax = Figure().subplots()
    regression.fill_band(ax, [0, 1, 2], [1, 2, 0], [3, 5, 4], alpha=0.5)
    box = ax.collections[0].get_datalim(ax.transData)
    assert (box.x0, box.x1, box.y0, box.y1) == (0, 2, 0, 5)
    assert ax.collections[0].get_alpha() == 0.5


def test_axis_labels_of_a_data_set() -> None:
    first, *_, last = load("olympics-100m-men").columns
    assert regression.column_names("olympics-100m-men") == (first, f"{last} (s)")
    assert regression.column_names(None) == ("x", "t")
    assert regression.column_names(None, ("a", "b")) == ("a", "b")
