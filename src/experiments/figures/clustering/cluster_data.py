"""The points in the plane; a sample as it grows on its contours; probabilities and one label."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import MARKERS, covariance_contour, panel_grid
from bythebook.experiments.plotting.labels import plane_labels
from bythebook.experiments.studies.clustering.cluster_data import ClusterData


def draw(study: ClusterData, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.data is not None:
        yield "data", _points(study, outcome)
    elif study.means:
        yield "sample", _sample(study, outcome)
    else:
        yield "labels", _labels(outcome)


def _points(study: ClusterData, outcome: Outcome) -> Figure:
    shown = {"": ("points", False, 4)}
    if study.standardise:
        shown = {"As observed": ("observed", False, 3), "After rescaling": ("points", True, 3)}
    figure, axes = subplots(1, len(shown), squeeze=False)
    for ax, (title, (name, rescaled, size)) in zip(axes[0], shown.items(), strict=True):
        ax.plot(*outcome[name].values.T, "o", markersize=size, alpha=0.7)
        x, y = plane_labels(study.data, standardised=rescaled)
        ax.set(xlabel=x, ylabel=y, title=title)
    return figure


def _sample(study: ClusterData, outcome: Outcome) -> Figure:
    X, z = outcome["objects"].values, outcome["chosen"].values[0] - 1
    figure, axes = panel_grid(1, len(study.show), 1.25, sharex=True, sharey=True)
    for ax, n in zip(axes[0], sorted(study.show), strict=True):
        for k, (mean, variance) in enumerate(zip(study.means, study.variances, strict=True)):
            for scale in (1, 4):
                covariance_contour(
                    ax, np.array(mean), scale * np.diag(variance), "0.75", linewidth=1
                )
            ax.plot(*X[:n][z[:n] == k].T, MARKERS[k], color=f"C{k}", markersize=3.5)
        ax.plot(*X[n - 1], "o", color=f"C{z[n - 1]}", markersize=9, markeredgecolor="black")
        ax.set(title=f"{n} object{'s' * (n > 1)}", xlabel="$x_1$")
    axes[0, 0].set_ylabel("$x_2$")
    return figure


def _labels(outcome: Outcome) -> Figure:
    q, places = outcome["probability"].values, outcome["probability"].coord("component")
    figure, ax = subplots()
    ax.bar(places - 0.2, q, 0.38, color="C0", label="responsibilities")
    ax.bar(places + 0.2, places == places[q.argmax()], 0.38, color="C1", label="hard assignment")
    ax.set(xlabel="Component", ylabel="Probability", xticks=places, ylim=(0, 1.05))
    ax.legend()
    return figure
