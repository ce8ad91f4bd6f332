"""Predictions in the plane, and boundaries of sampled weights."""

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Mark, Panel, contour, line, point

X1 = "coordinates(predictive, over='x1')"
RANGE = (-6, 6)
LEVELS = [0.01, 0.25, 0.5, 0.75, 0.99]


def _points() -> list[Mark]:
    looks: list[dict[str, Any]] = [{"color": "C3", "marker": "o"}, {"color": "C0", "marker": "s"}]
    return [
        point("inputs[:, 2]", x="inputs[:, 1]", where=f"labels == {k}", **look)
        for k, look in enumerate(looks)
    ]


def predictive() -> Iterator[Panel]:
    """The predictive distribution and the points, as in PRML Figure 10.13."""
    yield Panel(
        contour("predictive", levels=LEVELS),
        *_points(),
        x="x1",
        y="x2",
        title="probability of the second class (squares)",
        xlimits=RANGE,
        ylimits=RANGE,
        finish=_label_contours,
    )


def boundaries() -> Iterator[Panel]:
    """Boundaries of weights drawn from the posterior."""
    weight = "sampled_weights[:, {}]".format
    yield Panel(
        line(f"-({weight(0)} + {weight(1)} * {X1}) / {weight(2)}", x="x1", color="0.4"),
        *_points(),
        x="x1",
        y="x2",
        title="samples of the weights",
        xlimits=RANGE,
        ylimits=RANGE,
    )


def _label_contours(ax: Axes, _: Outcome) -> None:
    for drawn in ax.collections:
        if isinstance(drawn, ContourSet):
            ax.clabel(drawn, fontsize="x-small")
