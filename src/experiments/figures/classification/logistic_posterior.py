"""Two classes, the climb to the most probable weights, and the boundaries that weights draw."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.classes import (
    circles_and_squares,
    legend_of,
    lines_through_origin,
    probability_lines,
)
from experiments.drawing.clusters import grid, legend_below, whole_steps
from experiments.studies.classification.logistic_posterior import LogisticPosterior

LEVELS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


def draw(study: LogisticPosterior, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"data": _data, "path": _path, "boundary": _boundary, "predictive": _predictive}
    for name in study.show:
        yield name, draws[name](study, outcome)


def _data(study: LogisticPosterior, outcome: Outcome) -> Figure:
    figure, ax = panels()
    circles_and_squares(ax, outcome["inputs"].values, outcome["label"].values)
    ax.legend(loc="upper left")
    return figure


def _path(study: LogisticPosterior, outcome: Outcome) -> Figure:
    figure, ax = panels()
    for name, mark in ((1, "o-"), (2, "s--")):
        ax.plot(outcome["path"].at(weight=name).values, mark, label=f"$w_{name}$")
    ax.set(xlabel="iteration", ylabel="weight")
    whole_steps(ax)
    ax.legend(loc="lower right")
    return figure


def _boundary(study: LogisticPosterior, outcome: Outcome) -> Figure:
    figure, axes = grid(1, 2, 1.02)
    w = outcome["path"].values[-1:]
    lines_through_origin(axes[0, 0], w, color="black", label="P(T = 1) = 0.5")
    _probability(axes[0, 1], outcome, "point")
    for ax in axes[0]:
        circles_and_squares(ax, outcome["inputs"].values, outcome["label"].values)
    axes[0, 1].set_title("P(T = 1 | x, ŵ)")
    legend_below(axes[0, 0])
    return figure


def _predictive(study: LogisticPosterior, outcome: Outcome) -> Figure:
    figure, axes = grid(1, 2, 1.02)
    lines = outcome["boundary"].values
    lines_through_origin(axes[0, 0], lines, color="0.45", linewidth=0.8)
    _probability(axes[0, 1], outcome, "sampled")
    for ax in axes[0]:
        circles_and_squares(ax, outcome["inputs"].values, outcome["label"].values)
        ax.plot(*study.new, "*", color="black", markersize=9, clip_on=False, label="new object")
    axes[0, 0].set_title(f"{len(lines)} sampled boundaries")
    axes[0, 1].set_title("P(T = 1 | x), averaged")
    legend_of(figure, axes[0, 1], 3)
    return figure


def _probability(ax: Axes, outcome: Outcome, estimate: str) -> None:
    p = outcome["probability_map"].at(estimate=estimate)
    probability_lines(ax, p, LEVELS, colors="0.25", linewidths=1)
