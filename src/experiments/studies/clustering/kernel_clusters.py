"""Kernel K-means on a ring about a disc: the growing cluster, kernels and starts (FCML 6.2.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import in_ring, of_points
from models.classification.kernels import gaussian
from models.clustering.agreement import agreement
from models.clustering.kernel_kmeans import KernelKMeansFit, kernel_kmeans, one_against_the_rest
from models.clustering.kmeans import kmeans, random_points
from models.datasets import load
from models.types import Ints


@dataclass
class KernelClusters(Study):
    """Two clusters with a Gaussian kernel from one lone object, other kernels and other starts."""

    headline = {"iterations": "size(small_cluster) - 1", "agreement": "agreement['middle']"}

    data: str = knob("fcml-rings", "a ring about a disc", dataset=True)
    gamma: float = knob(1.0, "the kernel is exp(-gamma |x - y|^2)", above=0)
    gammas: list[float] = knob([0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0], "also tried", above=0)
    show: list[int] = knob([1, 5, 10, 30], "iterations to draw", at_least=0, distinct=True)
    starts: int = knob(20, "starts of each random kind", at_least=1, at_most=200)
    iterations: int = knob(100, "iterations at most", at_least=1, at_most=10_000)

    def run(self, rng: Generator) -> Outcome:
        X = load(self.data).matrix
        truth = in_ring(X)
        innermost = np.argmin(np.square(X).sum(axis=1))
        middle = one_against_the_rest(len(X), np.array([innermost]))
        ordinary = kmeans(X, random_points(X, 2, rng, 5))
        lone = rng.choice(len(X), self.starts, replace=False)

        def fit(labels: Ints, gamma: float) -> KernelKMeansFit:
            return kernel_kmeans(gaussian(X, X, gamma), labels, 2, max_iter=self.iterations)

        def shares(labels: Ints, gamma: float = self.gamma) -> list[float]:
            """Agreement with the truth where each start ends."""
            return [agreement(found, truth, 2) for found in fit(labels, gamma).labels]

        history = fit(middle, self.gamma).history[:, 0]  # (T + 1, N)
        points, snapshot = of_points(X), axis("snapshot", sorted(self.show))
        kept = np.minimum(snapshot.values, len(history) - 1)
        one_by_one = shares(one_against_the_rest(len(X), lone))
        at_random = shares(rng.integers(2, size=(self.starts, len(X))))
        given = shares(np.concatenate([middle, ordinary.labels[[ordinary.best]]]))
        return Outcome(
            points=points,
            labels=over(history[kept], snapshot, points.axes[0]),
            small_cluster=axis("iteration", len(history)).of(history.sum(axis=1)),
            agreement=axis("start", ["middle", "kmeans"]).of(given),
            random_agreement=over(
                [one_by_one, at_random],
                axis("random_start", ["single", "random"]),
                axis("restart", self.starts),
            ),
            agreement_by_gamma=axis("gamma", self.gammas).of(
                [shares(middle, gamma)[0] for gamma in self.gammas]
            ),
        )
