"""The regions of nearest neighbours, and their cross-validation error against K."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import classification
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import integer_ticks
from bythebook.experiments.studies.classification.nearest_neighbours import NearestNeighbours

KERNELS = {"none": "no kernel"}


def draw(study: NearestNeighbours, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "regions" in study.methods:
        yield "boundary", _regions(study, outcome)
    if "cross-validation" in study.methods:
        yield "error", _errors(outcome)


def _regions(study: NearestNeighbours, outcome: Outcome) -> Figure:
    names = ["class 0", "class 1"] if study.data is None else ["outside", "inside"]
    cases = [(k, kernel) for k in study.ks for kernel in study.kernels]
    titles = [
        f"K = {k}" if len(study.kernels) == 1 else KERNELS.get(kernel, f"{kernel} kernel")
        for k, kernel in cases
    ]
    ratio = 0.8 if len(study.kernels) > 1 else 0.85
    figure, axes = classification.map_panels(outcome, names, titles, ratio, columns=2)
    for ax, (k, kernel) in zip(axes, cases, strict=True):
        classification.decision_regions(ax, outcome["region"].sel(k=k, kernel=kernel))
    shared_legend(figure, axes[0], 2)
    return figure


def _errors(outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 2)
    classification.labelled_points(axes[0], outcome, ["class 0", "class 1"])
    error = outcome["cross_validation_error"]
    ks, percent = error.coord("k"), 100 * error.values
    low, high = np.quantile(percent, [0.1, 0.9], axis=1)
    axes[1].fill_between(ks, low, high, color="0.85", label="80 % of such sets")
    axes[1].plot(ks, percent[:, 0], "o-", label="these points")
    axes[1].plot(ks, percent.mean(1), "--", label="mean of such sets")
    axes[1].set(xlabel="Neighbours K", ylabel="Cross-validation error (%)", ylim=(0, None))
    integer_ticks(axes[1])
    figure.legend(loc="outside lower center", ncols=5)
    return figure
