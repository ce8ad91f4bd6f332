"""The lone object's cluster as it grows, and what other kernels and starts come to."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import SYMBOLS, grid, sides
from experiments.studies.clustering.kernel_clusters import KernelClusters


def draw(study: KernelClusters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "iterations", _iterations(outcome)
    yield "choices", _choices(outcome)


def _iterations(outcome: Outcome) -> Figure:
    X, labels = outcome["points"].values, outcome["labels"]
    T, steps = len(outcome["small_cluster"]) - 1, labels.along("snapshot")
    figure, axes = grid(1, len(steps), 1.0, sharex=True, sharey=True)
    for ax, step, members in zip(axes[0], steps, labels.values, strict=True):
        for k in (0, 1):
            ax.plot(*X[members == k].T, SYMBOLS[2 * k], color=f"C{k}", markersize=1.5)
        when = f"After {step}" if step <= T else f"{step} (ended at {T})"
        ax.set(title=when, xlabel="$x_1$", aspect="equal")
    axes[0, 0].set_ylabel("$x_2$")
    return figure


def _choices(outcome: Outcome) -> Figure:
    figure, axes = grid(1, 2, 0.75, sharey=True, width_ratios=[1, 1.4])
    by_gamma = outcome["agreement_by_gamma"]
    axes[0, 0].semilogx(by_gamma.along("gamma"), by_gamma.values, "o-")
    axes[0, 0].set(xlabel=r"Kernel parameter $\gamma$", ylabel="Share as in the true clusters")
    lone, random = outcome["random_agreement"].values
    starts = {
        "the innermost\nobject alone": outcome["agreement"].values[:1],
        "a random\nobject alone": lone,
        "random\nlabels": random,
        "labels\nof K-means": outcome["agreement"].values[1:],
    }
    for i, values in enumerate(starts.values()):
        axes[0, 1].plot(i + sides(values), values, "o", markersize=4, alpha=0.7, color="C0")
    axes[0, 1].set_xticks(range(len(starts)), list(starts))
    axes[0, 1].set(xlabel="Start", ylim=(0.45, 1.03))
    return figure
