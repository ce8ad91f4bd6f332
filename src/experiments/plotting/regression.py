"""Plots for curves and their data: panels, bands, fits, axis limits and column names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.plotting.canvas import subplots
from bythebook.models.datasets import load
from bythebook.models.types import Floats

_UNITS = {"time": "time (s)"}


def panel_tiles(count: int, x_name: str, t_name: str, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels in two columns, or in three for three panels.

    Only the outer panels have axis labels.
    """
    columns = 3 if count == 3 else min(2, count)
    figure, axes = subplots(-(-count // columns), columns, squeeze=False, **options)
    if columns == 3:
        figure.set_size_inches(*(figure.get_size_inches() * (0.75, 0.85)))
    used, unused = list(axes.flat[:count]), axes.flat[count:]
    for ax in unused:
        ax.remove()
    for ax in used[-columns:]:
        ax.set_xlabel(x_name)
        ax.xaxis.set_tick_params(labelbottom=True)
    for ax in used[::columns]:
        ax.set_ylabel(t_name)
    return figure, used


def fill_band(ax: Axes, x: Any, low: Any, high: Any, **options: Any) -> None:
    """Fill the area between two curves."""
    ax.fill_between(x, low, high, **({"alpha": 0.2, "linewidth": 0} | options))


def plot_fit(ax: Axes, x: Floats, t: Floats, grid: Floats, truth: Floats, curve: Floats) -> None:
    """Data, the true curve, and a fit, which may leave the axes."""
    ax.plot(x, t, "o", color="C0", markersize=4, label="data")
    ax.plot(grid, truth, color="C2", label="true curve")
    ax.plot(grid, curve, color="C1", label="fit")
    pad_ylim(ax, t, 1 / 4)


def plot_curves(ax: Axes, grid: Floats, curves: Floats, label: str) -> None:
    """Thin lines for curves (curves, grid), with one entry in the legend."""
    options: dict[str, Any] = {"color": "C4", "linewidth": 0.6}
    ax.plot(grid, curves.T, "-", alpha=0.6, **options)
    ax.plot([], [], "-", label=label, **options)


def pad_ylim(ax: Axes, t: Floats, padding: float) -> None:
    """Set the vertical limits to the range of values plus padding, a fraction of that range."""
    spread = np.ptp(t)
    ax.set_ylim(t.min() - padding * spread, t.max() + padding * spread)


def column_names(data: str | None, default: Sequence[str] = ("x", "t")) -> tuple[str, str]:
    """Axis labels: the first and the last column of a data set, or `default` without one."""
    columns = list(load(data).columns) if data is not None else default
    return _UNITS.get(columns[0], columns[0]), _UNITS.get(columns[-1], columns[-1])
