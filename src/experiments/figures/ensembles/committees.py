"""Errors of committees and of their members against the size, and the first committee."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.regression import pad_ylim, plot_curves
from bythebook.experiments.studies.ensembles.committees import Committees

LABELS = {
    "average_error": "members on average",
    "committee_error": "bootstrap committee",
    "independent_error": "members with own data sets",
}


def draw(study: Committees, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.orders:
        shape = -(-len(study.orders) // 2), min(2, len(study.orders))
        yield "errors", _errors(outcome, *subplots(*shape, squeeze=False, sharey=True))
        yield "fits", _fits(outcome, *subplots(*shape, squeeze=False, sharey=True))
    if study.correlations:
        yield "ratio", _ratios(study, outcome)


def _errors(outcome: Outcome, figure: Figure, axes: np.ndarray) -> Figure:
    for k, (ax, order) in enumerate(zip(axes.flat, outcome.axes["order"].values, strict=False)):
        for i, (name, label) in enumerate(LABELS.items()):
            errors = np.median(outcome[name].values[k], axis=-1)
            ax.plot(outcome[name].coord("members"), errors, marker="os^"[i], label=label)
        single = np.median(outcome["single_error"].values[k])
        look = {"color": "black", "linewidth": 1, "linestyle": ":"}
        ax.axhline(single, label="one fit to all data", **look)
        ax.set(xlabel="members", xscale="log", yscale="log", title=f"order {order}")
    figure.supylabel("squared error about the true curve", fontsize="medium")
    shared_legend(figure, axes[0, 0], 2)
    return figure


def _fits(outcome: Outcome, figure: Figure, axes: np.ndarray) -> Figure:
    members, truth = outcome["member_curve"], outcome["truth"].values
    x = members.coord("x")
    for k, (ax, order) in enumerate(zip(axes.flat, members.coord("order"), strict=False)):
        plot_curves(ax, x, members.values[k], f"{len(members.values[k])} members")
        ax.plot(outcome["inputs"], outcome["targets"], "o", color="0.4", markersize=3, label="data")
        ax.plot(x, truth, "-", color="C2", label="true curve")
        ax.plot(x, outcome["committee_curve"].values[k], "--", color="C1", label="committee")
        ax.set(xlabel="x", title=f"order {order}")
    pad_ylim(axes[0, 0], truth, 0.5)
    for row in axes:
        row[0].set_ylabel("t")
    shared_legend(figure, axes[0, 0], 4)
    return figure


def _ratios(study: Committees, outcome: Outcome) -> Figure:
    """The committee's error over its members', for each correlation."""
    members = outcome["ratio"].coord("members")
    figure, ax = subplots()
    for i, rho in enumerate(study.correlations):
        mark, colour = "os^Dv<>p"[i % 8], f"C{i}"
        ax.plot(members, outcome["expected_ratio"].values[i], "-", color=colour)
        ax.plot(members, outcome["ratio"].values[i], mark, color=colour, label=rf"$\rho$ = {rho:g}")
    ax.plot([], [], "-", color="0.4", label=r"$\rho + (1 - \rho) / M$")
    ax.set(xlabel="members M", ylabel=r"$E_{COM}\, /\, E_{AV}$", xscale="log", yscale="log")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
