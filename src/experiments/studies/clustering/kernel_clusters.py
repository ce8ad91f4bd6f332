"""Kernel K-means on a ring about a disc: the growing cluster, kernels and starts (FCML 6.2.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.mixture_path import agreement
from models.classification.kernels import gaussian
from models.clustering.kernel_kmeans import kernel_kmeans, one_against_the_rest
from models.clustering.kmeans import kmeans, random_points
from models.datasets import load
from models.types import Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARTS = {
    "middle": "the innermost object alone",
    "single": "a random object alone",
    "random": "random labels",
    "kmeans": "labels of K-means",
}
RIGHT = 0.99


@dataclass
class KernelClusters(Study):
    """Two clusters with a Gaussian kernel from one lone object, other kernels and other starts."""

    data: str = knob("fcml-rings", "a ring about a disc", dataset=True)
    gamma: float = knob(1.0, "the kernel is exp(-gamma |x - y|^2)", above=0)
    gammas: list[float] = knob([0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0], "also tried", above=0)
    show: list[int] = knob([1, 5, 10, 30], "iterations to draw", at_least=0, distinct=True)
    starts: int = knob(20, "starts of each random kind", at_least=1, at_most=200)
    iterations: int = knob(100, "iterations at most", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        X = load(self.data).matrix
        radius = np.square(X).sum(axis=1)
        truth = (radius > 0.75).astype(np.int64)  # half-way between the disc and the ring
        middle = one_against_the_rest(len(X), np.array([np.argmin(radius)]))
        K = gaussian(X, X, self.gamma)
        one = kernel_kmeans(K, middle, 2, max_iter=self.iterations)
        sizes = one.history[:, 0].sum(axis=1)
        T = int(one.iterations[0])
        metrics: dict[str, Scalar] = {
            "iterations": T,
            "agreement": _share(one.labels[0], truth),
            "small_cluster_never_shrinks": bool((np.diff(sizes) >= 0).all()),
            "final_size": int(sizes[-1]),
            "converged": bool(one.converged[0]),
        }
        ordinary = kmeans(X, random_points(X, 2, rng, 5))
        lone = rng.choice(len(X), self.starts, replace=False)
        begins = {
            "middle": middle,
            "single": one_against_the_rest(len(X), lone),
            "random": rng.integers(2, size=(self.starts, len(X))),
            "kmeans": ordinary.labels[[ordinary.best]],
        }
        shares = {}
        for start, labels in begins.items():
            fit = kernel_kmeans(K, labels, 2, max_iter=self.iterations)
            shares[start] = np.array([_share(found, truth) for found in fit.labels])
            metrics[f"share_right_{start}"] = float(np.mean(shares[start] >= RIGHT))
        metrics["depends_on_start"] = bool(
            np.ptp([share.mean() for share in shares.values()]) > 1 - RIGHT
        )
        tried = []
        for gamma in self.gammas:
            fit = kernel_kmeans(gaussian(X, X, gamma), middle, 2, max_iter=self.iterations)
            tried.append(_share(fit.labels[0], truth))
        metrics["share_of_gammas_right"] = float(np.mean(np.array(tried) >= RIGHT))
        kept = [min(step, T) for step in sorted(self.show)]
        return Outcome(
            metrics,
            series={"small_cluster": Series(list(range(len(sizes))), sizes.tolist())},
            tables={"gamma": {"gamma": self.gammas, "agreement": tried}},
            arrays={"X": X, "shown": one.history[kept, 0]}
            | {f"agreement_{start}": share for start, share in shares.items()},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import SYMBOLS, grid

        X, T = outcome.arrays["X"], outcome.metrics["iterations"]
        figure, axes = grid(1, len(self.show), 1.0, sharex=True, sharey=True)
        shown = zip(axes[0], sorted(self.show), outcome.arrays["shown"], strict=True)
        for ax, step, labels in shown:
            for k in (0, 1):
                ax.plot(*X[labels == k].T, SYMBOLS[2 * k], color=f"C{k}", markersize=1.5)
            when = f"After {step}" if step <= T else f"{step} (ended at {T})"
            ax.set(title=when, xlabel="$x_1$", aspect="equal")
        axes[0, 0].set_ylabel("$x_2$")
        return {"iterations": figure, "choices": self._draw_choices(outcome)}

    def _draw_choices(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import grid, sides

        figure, axes = grid(1, 2, 0.75, sharey=True, width_ratios=[1, 1.4])
        table = outcome.tables["gamma"]
        axes[0, 0].semilogx(table["gamma"], table["agreement"], "o-")
        axes[0, 0].set(xlabel=r"Kernel parameter $\gamma$", ylabel="Share as in the true clusters")
        for i, start in enumerate(STARTS):
            values = outcome.arrays[f"agreement_{start}"]
            axes[0, 1].plot(i + sides(values), values, "o", markersize=4, alpha=0.7, color="C0")
        axes[0, 1].set_xticks(range(len(STARTS)), [_wrapped(name) for name in STARTS.values()])
        axes[0, 1].set(xlabel="Start", ylim=(0.45, 1.03))
        return figure


def _wrapped(name: str) -> str:
    return (
        name.replace(" object", "\nobject")
        .replace(" labels", "\nlabels")
        .replace(" of K", "\nof K")
    )


def _share(labels: Ints, truth: Ints) -> float:
    return agreement(labels, truth, 2)
