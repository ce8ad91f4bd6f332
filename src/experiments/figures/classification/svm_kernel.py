"""A class inside another, what machines make of it, and their ROC curves."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.classes import labelled_points, legend_of, map_panels, regions, ringed
from experiments.studies.classification.svm_kernel import SvmKernel

NAMES = ["circles (−1)", "squares (+1)"]


def draw(study: SvmKernel, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"data": _data, "boundaries": _boundaries, "roc": _roc}
    for name in study.show:
        yield name, draws[name](outcome)


def _data(outcome: Outcome) -> Figure:
    figure, axes = panels(1, 2)
    labelled_points(axes[0], outcome, NAMES)
    for k, label in enumerate((-1, 1)):
        z = outcome["squared_distance"].values[outcome["label"].values == label]
        axes[1].plot(z, np.full(len(z), label), "o^"[k], color=f"C{k}", markersize=5, alpha=0.7)
    axes[1].set(xlabel="$z = x_1^2 + x_2^2$", ylabel="Class t", yticks=[-1, 1], ylim=(-2, 2))
    legend_of(figure, axes[0], 2)
    return figure


def _boundaries(outcome: Outcome) -> Figure:
    gammas = outcome["auc"].along("gamma")
    titles = [rf"$\gamma$ = {gamma:g}" for gamma in gammas]
    figure, axes = map_panels(outcome, NAMES, titles, columns=len(gammas))
    for gamma, ax in zip(gammas, axes, strict=True):
        regions(ax, outcome["region"].at(gamma=gamma))
        support = outcome["support"].at(gamma=gamma).values
        ringed(ax, outcome["inputs"].values[support], "support vectors")
    legend_of(figure, axes[0], 3)
    return figure


def _roc(outcome: Outcome) -> Figure:
    figure, ax = panels()
    for k, gamma in enumerate(outcome["auc"].along("gamma")):
        name = rf"$\gamma$ = {gamma:g}, area {outcome['auc'].at(gamma=gamma).item:.4f}"
        style = ("-", "--", "-.", ":")[k % 4]
        ax.plot(*outcome["roc"].at(gamma=gamma).values, style, label=name)
    ax.plot([0, 1], [0, 1], ":", color="0.6", label="guessing, area 0.5")
    ax.set(xlabel="False positive rate, 1 − specificity", ylabel="Sensitivity")
    ax.legend(loc="lower right")
    return figure
