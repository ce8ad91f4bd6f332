"""Plots for the classification studies: points by class, decision regions, boundaries.

Maps are quantities over (x2, x1), the two coordinates of a plane.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome, Quantity
from bythebook.experiments.plotting.clustering import MARKERS, hide_unused, panel_grid
from bythebook.models.types import AnyArray, Floats


def scatter(ax: Axes, X: Floats, t: AnyArray, names: Sequence[str]) -> None:
    """Points of each class with its own colour and symbol."""
    for k, (label, name) in enumerate(zip(np.unique(t), names, strict=True)):
        ax.plot(
            *X[t == label].T,
            MARKERS[k % 8],
            color=f"C{k}",
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=name,
            zorder=2,
        )
    ax.set(xlabel="$x_1$", ylabel="$x_2$")


def labelled_points(ax: Axes, outcome: Outcome, names: Sequence[str]) -> None:
    """The points of an outcome, by class."""
    scatter(ax, outcome["inputs"].values, outcome["label"].values, names)


def map_panels(
    outcome: Outcome,
    names: Sequence[str],
    titles: Sequence[str],
    ratio: float = 1.0,
    columns: int = 3,
) -> tuple[Figure, list[Axes]]:
    """A panel for each title, with the points of an outcome."""
    columns = min(len(titles), columns)
    figure, axes = panel_grid(-(-len(titles) // columns), columns, ratio, sharex=True, sharey=True)
    used, unused = list(axes.flat[: len(titles)]), axes.flat[len(titles) :]
    for ax, title in zip(used, titles, strict=True):
        labelled_points(ax, outcome, names)
        ax.set_title(title)
        ax.label_outer()
    hide_unused(unused)
    return figure, used


def mark_points(ax: Axes, X: Floats, label: str) -> None:
    """Rings around points, for example support vectors."""
    ax.plot(
        *X.T,
        "o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor="0.3",
        label=label,
        zorder=3,
    )


def decision_regions(ax: Axes, region: Quantity) -> None:
    """Fill the region in which a boolean map is true, and draw its boundary."""
    grid = region.coord("x1"), region.coord("x2"), region.values.astype(float)
    if region.values.any():
        ax.contourf(*grid, levels=[0.5, 1.5], colors=["C1"], alpha=0.13, zorder=0)
    if region.values.any() and not region.values.all():
        ax.contour(*grid, levels=[0.5], colors="0.15", linewidths=1.6)


def probability_lines(
    ax: Axes, p: Quantity, levels: Sequence[float] = (0.1, 0.5, 0.9), **look: Any
) -> None:
    """Labelled contours of a probability map."""
    dashes = [":" if level < 0.5 else "--" if level > 0.5 else "-" for level in levels]
    style = look or {"colors": "0.2", "linewidths": 1.5, "linestyles": dashes}
    lines = ax.contour(p.coord("x1"), p.coord("x2"), p.values, levels=levels, **style)
    for text in ax.clabel(lines, fmt="%g", fontsize=9, colors="black"):
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8})


def lines_through_origin(ax: Axes, w: Floats, **look: Any) -> None:
    """The lines w^T x = 0 of weights (S, 2)."""
    end = 10 * np.stack([-w[:, 1], w[:, 0]], axis=-1) / np.linalg.norm(w, axis=-1, keepdims=True)
    ax.plot(*np.stack([-end, end]).transpose(2, 0, 1), **look)


def line_across(ax: Axes, line: Floats, level: float, X: Floats, **look: Any) -> None:
    """The line w^T x + b = level, for (w_1, w_2, b), across the range of points X (N, 2)."""
    w, b = line[:2], line[2]
    foot = w * (level - b) / (w @ w)
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = np.abs(X).max() * 4
    ax.plot(*np.stack([foot - reach * along, foot + reach * along]).T, **look)


def plot_two_classes(ax: Axes, outcome: Outcome) -> None:
    """The classes 0 and 1 of FCML chapter 4, with the symbols of the book."""
    X, t = outcome["inputs"].values, outcome["label"].values
    ax.plot(*X[t == 0].T, "o", color="C0", markersize=4, clip_on=False, label="t = 0")
    ax.plot(*X[t == 1].T, "s", color="C1", markersize=4, clip_on=False, label="t = 1")
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", xlim=(-5, 5), ylim=(-5, 5))
