"""Final objectives, iterations and rates of the best optimum, by kind of start."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import MARKERS, panel_grid, strip_offsets
from bythebook.experiments.studies.clustering.restarts import RESOLUTION, STARTS, Restarts
from bythebook.models.types import Floats

BY_K = {  # the label of K, and the axes of iterations and shares
    "kmeans": ("clusters", "Mean cycles to converge", "Share within 0.1 % of the lowest J"),
    "mixture": ("components", "Mean iterations of EM", "Share that finds the largest"),
}


def draw(study: Restarts, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.model == "kmeans":
        yield "distortion", _distortions(study, outcome)
        if len(study.starts) > 1:
            yield "cycles", _by_k(study, outcome)
    elif len(study.k) == 1:
        yield "optima", _one_k(study, outcome)
    else:
        yield "optima", _maxima(study, outcome)
        yield "iterations", _by_k(study, outcome)


def _distortions(study: Restarts, outcome: Outcome) -> Figure:
    J = outcome["distortion"]
    figure, axes = panel_grid(1, len(study.starts), 0.9, sharey=True)
    for ax, start, values in zip(axes[0], study.starts, J.values, strict=True):
        boxes = ax.boxplot(np.log(values).T, tick_labels=J.coord("k"), widths=0.6)
        for line in boxes["medians"]:
            line.set(color="C1", linewidth=2.2)
        ax.set(xlabel="Number of clusters K", title=f"Start: {STARTS['kmeans'][start]}")
    axes[0, 0].set_ylabel("Natural log of the distortion")
    return figure


def _maxima(study: Restarts, outcome: Outcome) -> Figure:
    """Gap of each run to the largest log likelihood of its K, as the likelihoods differ widely."""
    L, names = outcome["log_likelihood"], STARTS["mixture"]
    largest = L.values.max(axis=(0, 2))
    gaps = L.values - largest[:, None]
    low = gaps.min(where=np.isfinite(gaps), initial=0)
    figure, axes = panel_grid(
        1, len(study.starts), 0.85 if len(study.starts) > 1 else 0.6, sharey=True
    )
    for ax, start, cells in zip(axes[0], study.starts, gaps, strict=True):
        for i, cell in enumerate(cells):
            gap = cell[np.isfinite(cell)]
            look = {"markersize": 4, "markeredgewidth": 0, "alpha": 0.6, "color": "C0"}
            ax.plot(
                i + strip_offsets(gap.round(6)), gap, "o", **look
            )  # the same optimum up to rounding
        ks = [f"{k}\n{best:.1f}" for k, best in zip(L.coord("k"), largest, strict=True)]
        ax.set_xticks(range(len(cells)), ks)
        title = names[start].replace(", ", ",\n") if len(study.starts) > 1 else names[start]
        ax.set(xlabel="Number of components K, and the largest found", title=f"Start: {title}")
        ax.set_yscale("symlog", linthresh=1)
        ax.set(xlim=(-0.6, len(cells) - 0.4), ylim=(1.5 * low - 0.5, 0.5))
    axes[0, 0].set_ylabel("Final log likelihood less the largest (nats)")
    return figure


def _one_k(study: Restarts, outcome: Outcome) -> Figure:
    """The kinds of start one below the other, with all their numbers."""
    figure, axes = panel_grid(
        1, 3, 0.6 + 0.12 * len(study.starts), sharey=True, width_ratios=[2, 1, 1]
    )
    rows = range(len(study.starts))
    for i, cell in enumerate(outcome["log_likelihood"].values[:, 0]):
        values = cell[np.isfinite(cell)]
        axes[0, 0].plot(values, i + strip_offsets(values), "o", markersize=3, alpha=0.6, color="C0")
    for ax, values in zip(axes[0, 1:], _means(outcome), strict=True):
        ax.barh(rows, values[:, 0], color="C0", height=0.6)
    axes[0, 0].set_yticks(rows, [STARTS["mixture"][s].replace(", ", ",\n") for s in study.starts])
    axes[0, 0].invert_yaxis()
    axes[0, 0].set_xlabel("Final log likelihood")
    axes[0, 1].set_xlabel("Mean iterations")
    axes[0, 2].set(xlabel="Share that finds\nthe largest", xlim=(0, 1))
    return figure


def _by_k(study: Restarts, outcome: Outcome) -> Figure:
    what, *labels = BY_K[study.model]
    figure, axes = subplots(1, 2)
    for ax, values, label in zip(axes, _means(outcome), labels, strict=True):
        for i, (start, row) in enumerate(zip(study.starts, values, strict=True)):
            name = STARTS[study.model][start]
            ax.plot(sorted(study.k), row, marker=MARKERS[i], color=f"C{i}", label=name)
        ax.set(xlabel=f"Number of {what} K", ylabel=label, xticks=sorted(study.k))
    axes[0].set_ylim(0, None)
    axes[1].set_ylim(0, 1.05)
    shared_legend(figure, axes[0], 2)
    return figure


def _means(outcome: Outcome) -> tuple[Floats, Floats]:
    """Mean iterations and the share that finds the best optimum, (start, K), without collapses."""
    if "distortion" in outcome:
        ends = outcome["distortion"].values
        found = ends / ends.min(axis=(0, 2))[:, None] <= 1.001
    else:
        ends = outcome["log_likelihood"].values
        found = ends > ends.max(axis=(0, 2))[:, None] - RESOLUTION
    sound = np.isfinite(ends)
    iterations = outcome["iterations"].values.mean(axis=2, where=sound)
    return iterations, found.mean(axis=2, where=sound)
