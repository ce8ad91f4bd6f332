"""Margins with their support vectors, and a class inside another separated by kernels."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.classification.support_vectors import SupportVectors

NAMES = ["circles (−1)", "squares (+1)"]


def draw(study: SupportVectors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"margin": _margin, "data": _data, "boundaries": _boundaries}
    for name in study.show:
        yield name, draws[name](outcome)


def _margin(outcome: Outcome) -> Figure:
    X, lines = outcome["inputs"].values, outcome["line"]
    names = list(lines.coord("machine"))
    titles = ["hard margin", *(f"soft margin, {name}" for name in names[1:])]
    figure, axes = classification.map_panels(outcome, ["class −1", "class +1"], titles, 0.95)
    if len(names) == 1:
        figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
    low, high = X.min(0) - 0.7, X.max(0) + 0.7
    for name, ax in zip(names, axes, strict=True):
        line = lines.sel(machine=name, repetition=0).values
        classification.line_across(ax, line, 0, X, color="0.15", label="boundary")
        for level, label in ((-1, "margin"), (1, "_")):
            look = {"color": "0.15", "linestyle": "--", "linewidth": 0.9}
            classification.line_across(ax, line, level, X, label=label, **look)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        classification.mark_points(
            ax, X[outcome["support"].sel(machine=name, repetition=0).values], "support vectors"
        )
        if name == "hard" and "line_before" in outcome:
            before = outcome["line_before"].sel(repetition=0).values
            classification.line_across(
                ax, before, 0, X, color="0.6", linestyle=":", label="before the move"
            )
    shared_legend(figure, axes[0], 3)
    return figure


def _data(outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 2)
    classification.labelled_points(axes[0], outcome, NAMES)
    for k, label in enumerate((-1, 1)):
        z = outcome["squared_distance"].values[outcome["label"].values == label]
        axes[1].plot(z, np.full(len(z), label), "o^"[k], color=f"C{k}", markersize=5, alpha=0.7)
    axes[1].set(xlabel="$z = x_1^2 + x_2^2$", ylabel="Class t", yticks=[-1, 1], ylim=(-2, 2))
    shared_legend(figure, axes[0], 2)
    return figure


def _boundaries(outcome: Outcome) -> Figure:
    gammas = outcome["region"].coord("gamma")
    titles = [rf"$\gamma$ = {gamma:g}" for gamma in gammas]
    figure, axes = classification.map_panels(outcome, NAMES, titles, columns=len(gammas))
    for gamma, ax in zip(gammas, axes, strict=True):
        classification.decision_regions(ax, outcome["region"].sel(gamma=gamma))
        support = outcome["support"].sel(gamma=gamma, repetition=0).values
        classification.mark_points(ax, outcome["inputs"].values[support], "support vectors")
    shared_legend(figure, axes[0], 3)
    return figure
