"""The points in the plane, a sample as it grows, and probabilities with one label."""

from collections.abc import Iterator
from functools import partial

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.plotting.marks import Panel, bar, point


def data() -> Iterator[Panel]:
    """The points as they are clustered."""
    yield Panel(
        point("points[:, 2]", x="points[:, 1]", ms=3, alpha=0.7, label=""), x="{x1}", y="{x2}"
    )


def observed() -> Iterator[Panel]:
    """The points as observed."""
    yield Panel(
        point("observed[:, 2]", x="observed[:, 1]", ms=3, alpha=0.7, label=""),
        x="length of the eruption (min)",
        y="time to the next eruption (min)",
    )


def sample(*counts: int) -> Iterator[Panel]:
    """The first objects of a sample, the last one larger, as in FCML Figure 6.7."""
    for n in counts:
        yield Panel(
            x="{x1}",
            y="{x2}",
            title=f"{n} object{'s' * (n > 1)}",
            finish=partial(_objects, n=n),
            share="xy",
            columns=len(counts),
        )


def _objects(ax: Axes, outcome: Outcome, n: int) -> None:
    X, z = outcome["objects"].values[:n], outcome["chosen"].values[0, :n]
    for k in range(1, len(outcome["probability"]) + 1):
        ax.plot(*X[z == k].T, MARKERS[k - 1], color=f"C{k - 1}", markersize=3.5)
    ax.plot(*X[-1], "o", color=f"C{z[-1] - 1}", markersize=9, markeredgecolor="black")


def labels() -> Iterator[Panel]:
    """The responsibilities of an object."""
    yield Panel(bar("probability"), x="component", y="responsibility", ylimits=(0, 1.05))
