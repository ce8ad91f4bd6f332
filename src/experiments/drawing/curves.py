"""What the figures of curves and their data share: tiles, bands, fits, the data's own names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.canvas import panels
from models.datasets import load
from models.types import Floats

_UNITS = {"time": "time (s)"}


def tiles(count: int, x_name: str, t_name: str, **options: Any) -> tuple[Figure, list[Axes]]:
    """Panels in two columns, which stay legible on a page, with names at the outer ones.

    Three stand side by side: a fourth place would be empty.
    """
    columns = 3 if count == 3 else min(2, count)
    figure, axes = panels(-(-count // columns), columns, squeeze=False, **options)
    if columns == 3:
        figure.set_size_inches(*(figure.get_size_inches() * (0.75, 0.85)))
    used, spare = list(axes.flat[:count]), axes.flat[count:]
    for ax in spare:
        ax.remove()
    for ax in used[-columns:]:
        ax.set_xlabel(x_name)
        ax.xaxis.set_tick_params(labelbottom=True)
    for ax in used[::columns]:
        ax.set_ylabel(t_name)
    return figure, used


def band(ax: Axes, x: Any, low: Any, high: Any, **options: Any) -> None:
    """The room between two curves, tinted."""
    ax.fill_between(x, low, high, **({"alpha": 0.2, "linewidth": 0} | options))


def fit(ax: Axes, x: Floats, t: Floats, grid: Floats, truth: Floats, curve: Floats) -> None:
    """Data, the true curve, and a fit that may leave the picture."""
    ax.plot(x, t, "o", color="C0", markersize=4, label="data")
    ax.plot(grid, truth, color="C2", label="true curve")
    ax.plot(grid, curve, color="C1", label="fit")
    around(ax, t, 1 / 4)


def many_fits(ax: Axes, grid: Floats, curves: Floats, label: str) -> None:
    """Thin lines (curves, grid) behind the rest, with one entry in the legend."""
    look: dict[str, Any] = {"color": "C4", "linewidth": 0.6}
    ax.plot(grid, curves.T, "-", alpha=0.6, **look)
    ax.plot([], [], "-", label=label, **look)


def around(ax: Axes, t: Floats, room: float) -> None:
    """Limits that leave room about values, in parts of their range."""
    spread = np.ptp(t)
    ax.set_ylim(t.min() - room * spread, t.max() + room * spread)


def column_names(data: str | None, otherwise: Sequence[str] = ("x", "t")) -> tuple[str, str]:
    """Names for the axes: the first and the last column of a data set, or others without one."""
    columns = list(load(data).columns) if data is not None else otherwise
    return _UNITS.get(columns[0], columns[0]), _UNITS.get(columns[-1], columns[-1])
