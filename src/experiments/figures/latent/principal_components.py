"""Clusters before and after the projection; both directions of a cloud; accuracy against D."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import integer_ticks, panel_grid
from bythebook.experiments.plotting.latent import before_curve_after, plot_objects
from bythebook.experiments.studies.latent.principal_components import PrincipalComponents


def draw(study: PrincipalComponents, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.cloud:
        yield "variance", _variance(outcome)
    if study.neighbours is not None:
        yield "accuracy", _accuracy(outcome)
    if not study.cloud and study.neighbours is None:
        yield "projection", _projection(study, outcome)


def _projection(study: PrincipalComponents, outcome: Outcome) -> Figure:
    look = {"xlabel": "Projection dimension", "ylabel": "Variance", "title": "Eigenvalues"}
    figure, before, curve, after = before_curve_after(
        outcome["points"].values[0], study.labels, **look
    )
    eigenvalues = outcome["eigenvalues"]
    curve.plot(eigenvalues.coord("component"), eigenvalues.values[0, 0], "o-")
    curve.set_ylim(0, None)
    plot_objects(
        after, outcome["projections"].values[0], study.labels, "First two projections", "x_%d"
    )
    for ax in (before, after):
        ax.set_aspect("equal", adjustable="datalim")
    return figure


def _variance(outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 2, 0.85)
    titles = {"cloud": "One Gaussian", "clusters": "Clusters"}
    for ax, (name, title) in zip(axes[0], titles.items(), strict=True):
        Y, W = (outcome[what].sel(data=name).values for what in ("points", "directions"))
        ax.plot(*Y.T, "o", color="0.6", markersize=4)
        variances = outcome["eigenvalues"].sel(data=name, repetition=0).values
        for i, (letter, value) in enumerate(zip("AB", variances, strict=True)):
            ends = Y.mean(axis=0) + np.outer([-2.5, 2.5], np.sqrt(value) * W[:, i])
            label = rf"{letter}: $\sigma^2$ = {value:.2f}"
            ax.plot(*ends.T, color=f"C{i}", linewidth=2.5, label=label)
        ax.set(xlabel="$y_1$", ylabel="$y_2$", title=title)
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return figure


def _accuracy(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    accuracy = outcome["accuracy"]
    mean, spread = accuracy.values.mean(axis=1), accuracy.values.std(axis=1)
    ax.errorbar(accuracy.coord("dimensions"), mean, spread, marker="o", capsize=3)
    ax.set(xlabel="Projected dimensions D", ylabel="Share classified correctly")
    integer_ticks(ax)
    return figure
