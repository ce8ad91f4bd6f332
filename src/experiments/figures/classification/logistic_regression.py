"""Two classes, Newton steps to the most probable weights, and decision boundaries."""

from collections.abc import Callable, Iterator
from typing import Any

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.marks import Mark, Panel, line, point

LEVELS = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
SQUARE: dict[str, Any] = {
    "x": "$x_1$",
    "y": "$x_2$",
    "xlimits": (-5, 5),
    "ylimits": (-5, 5),
}


def _points(size: float = 4) -> list[Mark]:
    look: list[dict[str, Any]] = [{"marker": "o", "color": "C0"}, {"marker": "s", "color": "C1"}]
    return [
        point(
            "inputs[:, 2]",
            x="inputs[:, 1]",
            where=f"label == {k}",
            ms=size,
            label=f"t = {k}",
            **look[k],
        )
        for k in (0, 1)
    ]


def data() -> Iterator[Panel]:
    """The objects of both classes."""
    yield Panel(*_points(), **SQUARE)


def path() -> Iterator[Panel]:
    """The weights after each Newton step from zero."""
    yield Panel(line("path", by="weight", marker="o", label="$w_{}$"), y="weight")


def boundary() -> Iterator[Panel]:
    """The boundary and the probabilities of the most probable weights."""
    yield Panel(*_points(), title="P(T = 1) = 0.5", finish=_lines("map_weight"), **SQUARE)
    yield Panel(*_points(), title="P(T = 1 | x, ŵ)", finish=_contours("plain", "point"), **SQUARE)


def predictive() -> Iterator[Panel]:
    """Sampled boundaries, and probabilities averaged over the samples."""
    new = point(
        "places['new', 2]",
        x="places['new', 1]",
        marker="*",
        color="black",
        ms=9,
        label="new object",
    )
    yield Panel(*_points(), new, title="sampled boundaries", finish=_lines("boundary"), **SQUARE)
    yield Panel(
        *_points(),
        new,
        title="P(T = 1 | x), averaged",
        finish=_contours("plain", "sampled"),
        **SQUARE,
    )


def probability() -> Iterator[Panel]:
    """The probabilities of the most probable weights for each form of the log odds."""
    for features in ("linear", "quadratic"):
        yield Panel(
            *_points(2),
            x="$x_1$",
            y="$x_2$",
            title=f"P(class 1), {features} log odds",
            finish=_contours(features, "point", (0.1, 0.5, 0.9)),
            share="xy",
        )


def _lines(name: str) -> Callable[[Axes, Outcome], None]:
    """Lines through the origin; with the most probable weights it is one."""

    def draw(ax: Axes, outcome: Outcome) -> None:
        w = outcome[name].sel(features="plain").values[: 1 if name == "map_weight" else None]
        look = (
            {"color": "0.45", "linewidth": 0.8, "linestyle": "-"}
            if len(w) > 1
            else {"color": "black"}
        )
        limits = ax.get_xlim(), ax.get_ylim()
        classification.lines_through_origin(ax, w[:, 1:3], **look)
        ax.set(xlim=limits[0], ylim=limits[1])

    return draw


def _contours(
    features: str, estimate: str, levels: tuple[float, ...] = LEVELS
) -> Callable[[Axes, Outcome], None]:
    def draw(ax: Axes, outcome: Outcome) -> None:
        p = outcome["probability_map"].sel(features=features, estimate=estimate)
        classification.probability_lines(ax, p, levels, colors="0.25", linewidths=1)

    return draw
