"""What the figures of the classification studies share: points by class, regions, boundaries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.drawing.clusters import SYMBOLS
from models.types import AnyArray, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def mesh(low: Sequence[float], high: Sequence[float], step: float) -> tuple[Floats, Floats, Floats]:
    """Grid lines of both axes, and the points of the grid, shape (rows, columns, 2)."""
    x = np.linspace(low[0], high[0], round((high[0] - low[0]) / step) + 1)
    y = np.linspace(low[1], high[1], round((high[1] - low[1]) / step) + 1)
    return x, y, np.stack(np.meshgrid(x, y), axis=-1)


def scatter(
    ax: "Axes", X: Floats, t: AnyArray, names: Sequence[str], *, grey: bool = False
) -> None:
    """Points of each class in its colour and symbol; or all grey, behind contours."""
    for k, (label, name) in enumerate(zip(np.unique(t), names, strict=True)):
        ax.plot(
            *X[t == label].T,
            SYMBOLS[k % 8],
            color="0.55" if grey else f"C{k}",
            markersize=4,
            markeredgecolor="white",
            markeredgewidth=0.4,
            label=name,
            zorder=2,
        )
    ax.set(xlabel="$x_1$", ylabel="$x_2$")


def ringed(ax: "Axes", X: Floats, label: str) -> None:
    """Rings round the points that matter most."""
    ax.plot(
        *X.T,
        "o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor="0.3",
        label=label,
        zorder=3,
    )


def boundary(ax: "Axes", x: Floats, y: Floats, values: Floats, **options: Any) -> None:
    """The line where values (rows, columns) on a grid pass through a level, 0 unless given."""
    style: dict[str, Any] = {"levels": [0.0], "colors": "0.15", "linewidths": 1.6}
    ax.contour(x, y, values, **(style | options))


def regions(ax: "Axes", x: Floats, y: Floats, chosen: AnyArray) -> None:
    """The region where a map (rows, columns) is true, tinted, and its edge."""
    values = chosen.astype(float)
    if chosen.any():
        ax.contourf(x, y, values, levels=[0.5, 1.5], colors=["C1"], alpha=0.13, zorder=0)
    if chosen.any() and not chosen.all():
        boundary(ax, x, y, values, levels=[0.5])
    ax.label_outer()


def probability_lines(ax: "Axes", x: Floats, y: Floats, p: Floats, levels: list[float]) -> None:
    """Contours of a probability on a grid, with their values."""
    lines = ax.contour(x, y, p, levels=levels, cmap="viridis_r", vmin=0, vmax=1.1, linewidths=1.4)
    ax.clabel(lines, fmt="%g", fontsize=7)
