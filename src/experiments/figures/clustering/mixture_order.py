"""Held-out and training log likelihood against K, and the last fit; means under each prior."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import (
    MARKERS,
    integer_ticks,
    panel_grid,
    plot_mixture,
)
from bythebook.experiments.plotting.labels import plane_labels
from bythebook.experiments.studies.clustering.mixture_order import MixtureOrder
from bythebook.models.types import Floats

COVARIANCES = {"full": "any", "diagonal": "diagonal", "spherical": "isotropic"}


def draw(study: MixtureOrder, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.prior_variances:
        yield "means", _means(study, outcome)
        return
    if study.folds:
        yield "held-out", _held_out(study, outcome)
    yield "training", _training(study, outcome)


def _held_out(study: MixtureOrder, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    for i, held in enumerate(outcome["held_out"].values):
        mark = {"marker": MARKERS[i], "capsize": 3, "label": COVARIANCES[study.covariances[i]]}
        ax.errorbar(
            np.array(sorted(study.k)) + 0.12 * i, held.mean(axis=1), held.std(axis=1), **mark
        )
    _finish(ax, study, "Held-out log likelihood per object")
    return figure


def _training(study: MixtureOrder, outcome: Outcome) -> Figure:
    X = outcome["points"].values
    flat = X.shape[1] == 2
    shape = _shape(X) if flat else 1.0
    figure, axes = panel_grid(1, 1 + flat, 0.85, **({"width_ratios": [1, shape]} if flat else {}))
    for i, kind in enumerate(study.covariances):
        L = outcome["log_likelihood"].values[i]
        axes[0, 0].plot(sorted(study.k), L, marker=MARKERS[i], label=COVARIANCES[kind])
    _finish(axes[0, 0], study, "Log likelihood")
    if flat:
        gamma = outcome["responsibilities"].values
        theta = outcome["means"].values, outcome["covariances"].values
        plot_mixture(axes[0, 1], X, gamma if gamma.shape[1] <= 8 else None, *theta)
        x, y = plane_labels(study.data, standardised=study.standardise)
        axes[0, 1].set(xlabel=x, ylabel=y, title=f"The fit with K = {max(study.k)}")
    return figure


def _shape(X: Floats) -> float:
    """Width of the panel of points relative to the other, so that both axes have one scale."""
    width, height = np.ptp(X, axis=0)
    return float(np.clip(0.85 * width / height, 0.5, 1.2))


def _finish(ax: Axes, study: MixtureOrder, ylabel: str) -> None:
    ax.set(xlabel="Number of components K", ylabel=ylabel)
    integer_ticks(ax)
    if len(study.covariances) > 1:
        ax.legend(title="Covariances")


def _means(study: MixtureOrder, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    means = outcome["means_with_prior"]
    ax.plot(*outcome["points"].values.T, "o", color="0.75", markersize=3)
    for i, (s2, mu) in enumerate(zip(means.coord("prior_variance"), means.values, strict=True)):
        mark = {"color": f"C{i % 8}", "label": f"$s^2$ = {s2:g}", "markersize": 8}
        ax.plot(*mu.T, MARKERS[i % 8], linestyle="none", markeredgecolor="black", **mark)
    ax.plot(*outcome["means_without_prior"].values.T, "k+", markersize=16, label="no prior")
    x, y = plane_labels(study.data, standardised=study.standardise)
    ax.set(xlabel=x, ylabel=y)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="Means with prior")
    return figure
