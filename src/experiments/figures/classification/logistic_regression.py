"""Two classes, Newton steps to the most probable weights, and decision boundaries."""

from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import integer_ticks, legend_below, panel_grid
from bythebook.experiments.studies.classification.logistic_regression import (
    SHOWN,
    LogisticRegression,
)
from bythebook.models.types import Floats

LEVELS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


def draw(study: LogisticRegression, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    for name in study.show:
        yield name, DRAWS[name](study, outcome)


def _data(study: LogisticRegression, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    classification.plot_two_classes(ax, outcome)
    ax.legend(loc="upper left")
    return figure


def _path(study: LogisticRegression, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    for name, mark in ((1, "o-"), (2, "s--")):
        ax.plot(outcome["path"].sel(weight=name).values, mark, label=f"$w_{name}$")
    ax.set(xlabel="iteration", ylabel="weight")
    integer_ticks(ax)
    ax.legend(loc="center right")
    return figure


def _boundary(study: LogisticRegression, outcome: Outcome) -> Figure:
    w = outcome["map_weight"].sel(features="plain").values[:1]
    figure, axes = _lines(outcome, w, "point", color="black", label="P(T = 1) = 0.5")
    axes[1].set_title("P(T = 1 | x, ŵ)")
    legend_below(axes[0])
    return figure


def _predictive(study: LogisticRegression, outcome: Outcome) -> Figure:
    w = outcome["boundary"].sel(features="plain").values
    figure, axes = _lines(outcome, w, "sampled", color="0.45", linewidth=0.8)
    for ax in axes:
        ax.plot(*study.new, "*", color="black", markersize=9, clip_on=False, label="new object")
    axes[0].set_title(f"{len(w)} sampled boundaries")
    axes[1].set_title("P(T = 1 | x), averaged")
    shared_legend(figure, axes[1], 3)
    return figure


def _lines(outcome: Outcome, w: Floats, estimate: str, **look: Any) -> tuple[Figure, Any]:
    """Boundaries w^T x = 0 of plain features, and next to them the contours of an estimate."""
    figure, axes = panel_grid(1, 2, 1.02)
    p = outcome["probability_map"].sel(features="plain", estimate=estimate)
    classification.lines_through_origin(axes[0, 0], w[:, 1:3], **look)
    classification.probability_lines(axes[0, 1], p, LEVELS, colors="0.25", linewidths=1)
    for ax in axes[0]:
        classification.plot_two_classes(ax, outcome)
    return figure, axes[0]


def _probability(study: LogisticRegression, outcome: Outcome) -> Figure:
    figure, axes = subplots(1, len(study.features), sharey=True, squeeze=False)
    for ax, name in zip(axes[0], study.features, strict=True):
        p = outcome["probability_map"].sel(features=name, estimate="point")
        classification.labelled_points(ax, outcome, ["class 0", "class 1"])
        classification.probability_lines(ax, p)
        ax.set_title(f"P(class 1), {name} log odds")
        ax.label_outer()
    shared_legend(figure, axes[0, 0], 2)
    return figure


DRAWS = dict(zip(SHOWN, (_data, _path, _boundary, _predictive, _probability), strict=True))
