"""Points of each class, the contours of its Gaussian, and maps of the class probabilities."""

from collections.abc import Iterator
from functools import partial

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.marks import Mark, Panel, point

MARKERS = ("o", "D", "s")


def _points() -> list[Mark]:
    """The points of three classes, with the symbols of the text."""
    return [
        point(
            "inputs[:, 2]",
            x="inputs[:, 1]",
            where=f"label == {c}",
            marker=marker,
            color=f"C{c - 1}",
            ms=4,
            label=f"class {c}",
        )
        for c, marker in enumerate(MARKERS, 1)
    ]


def data() -> Iterator[Panel]:
    """The points of each class."""
    yield Panel(*_points(), x="$x_1$", y="$x_2$")


def densities() -> Iterator[Panel]:
    """The points, and the contours of each class at 1, 2 and 3 standard deviations."""
    yield Panel(*_points(), x="$x_1$", y="$x_2$", xlimits=(-3.5, 9), finish=_contours)


def probabilities() -> Iterator[Panel]:
    """Contours of the probability of each class."""
    for c in (1, 2, 3):
        yield Panel(
            *_points(),
            x="$x_1$",
            y="$x_2$",
            title=f"P(class {c})",
            finish=partial(_probability_lines, c=c),
            share="xy",
        )


def _probability_lines(ax: Axes, outcome: Outcome, c: int) -> None:
    classification.probability_lines(ax, outcome["probability_map"].sel(category=c))


def _contours(ax: Axes, outcome: Outcome) -> None:
    density = outcome["log_density_map"]
    for k, c in enumerate(density.coord("category")):
        values = density.sel(category=c).values
        levels = values.max() - [4.5, 2.0, 0.5]
        grid = density.coord("x1"), density.coord("x2"), values
        ax.contour(*grid, levels=levels, colors=f"C{k}", linewidths=1.2, linestyles="-", zorder=1)
