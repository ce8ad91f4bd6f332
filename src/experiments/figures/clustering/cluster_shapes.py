"""The clusters that each method finds in the first draw of each shape; kernel K-means' growth."""

from collections.abc import Iterator
from itertools import product

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import MARKERS, panel_grid, strip_offsets
from bythebook.experiments.studies.clustering.cluster_shapes import ClusterShapes

METHODS = {"kmeans": "K-means", "mixture": "Gaussian mixture"}


def draw(study: ClusterShapes, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.gammas:
        yield "iterations", _iterations(outcome)
        yield "choices", _choices(outcome)
    else:
        yield "clusters", _clusters(study, outcome)


def _clusters(study: ClusterShapes, outcome: Outcome) -> Figure:
    shapes = ["rings"] * (study.data is not None) + ["stretched"] * study.stretched
    columns = list(product(shapes, study.methods))
    figure, axes = panel_grid(1, len(columns), 0.9)
    for ax, (shape, method) in zip(axes[0], columns, strict=True):
        first = {f"{shape}_draw": 0, "method": method}
        X = outcome[f"{shape}_points"].values[0]
        labels = outcome[f"{shape}_labels"].sel(**first).values
        size = 2.2 if len(X) > 500 else 4
        for k, centre in enumerate(outcome[f"{shape}_centres"].sel(**first).values):
            ax.plot(*X[labels == k].T, MARKERS[k], color=f"C{k}", markersize=size, alpha=0.7)
            ax.plot(*centre, MARKERS[k], color=f"C{k}", markersize=11, markeredgecolor="black")
        share = outcome[f"{shape}_agreement"].sel(**first).item
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
        ax.set_title(f"{METHODS[method]}: {share:.0%} as in the true clusters")
        if shape == "rings":
            ax.set_aspect("equal")
    return figure


def _iterations(outcome: Outcome) -> Figure:
    X, labels = outcome["rings_points"].values[0], outcome["kernel_labels"]
    T, steps = len(outcome["small_cluster"]) - 1, labels.coord("snapshot")
    figure, axes = panel_grid(1, len(steps), 1.0, sharex=True, sharey=True)
    for ax, step, members in zip(axes[0], steps, labels.values, strict=True):
        for k in (0, 1):
            look = {"color": f"C{k}", "markersize": 1.5, "rasterized": True}
            ax.plot(*X[members == k].T, MARKERS[2 * k], **look)
        when = f"After {step}" if step <= T else f"{step} (ended at {T})"
        ax.set(title=when, xlabel="$x_1$", aspect="equal")
    axes[0, 0].set_ylabel("$x_2$")
    return figure


def _choices(outcome: Outcome) -> Figure:
    figure, axes = panel_grid(1, 2, 0.75, sharey=True, width_ratios=[1, 1.4])
    by_gamma = outcome["agreement_by_gamma"]
    axes[0, 0].semilogx(by_gamma.coord("gamma"), by_gamma.values, "o-")
    axes[0, 0].set(xlabel=r"Kernel parameter $\gamma$", ylabel="Share as in the true clusters")
    lone, random = outcome["random_agreement"].values
    starts = {
        "the innermost\nobject alone": outcome["kernel_agreement"].values[:1],
        "a random\nobject alone": lone,
        "random\nlabels": random,
        "labels\nof K-means": outcome["kernel_agreement"].values[1:],
    }
    for i, values in enumerate(starts.values()):
        axes[0, 1].plot(i + strip_offsets(values), values, "o", markersize=4, alpha=0.7, color="C0")
    axes[0, 1].set_xticks(range(len(starts)), list(starts))
    axes[0, 1].set(xlabel="Start", ylim=(0.45, 1.03))
    return figure
