"""Clusters that are not round: K-means against its kernel version and a mixture of Gaussians.

FCML 6.2.2, 6.2.3 and 6.3.4.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import numbered
from bythebook.models.classification.kernels import gaussian
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.gaussian_mixture import fit, responsibilities
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.kernel_kmeans import (
    KernelKMeansFit,
    distances,
    kernel_kmeans,
    one_against_the_rest,
)
from bythebook.models.clustering.kmeans import kmeans, random_points
from bythebook.models.datasets import load
from bythebook.models.em import take
from bythebook.models.types import Floats, Ints

FEW = 12  # objects whose distances in the kernel's space are found in two ways


@dataclass
class ClusterShapes(Study):
    """Clusters found by each method: a ring about a disc, or two long parallel clusters."""

    headline = {
        "rings_agreement": "mean(rings_agreement)",
        "stretched_agreement": "mean(stretched_agreement)",
        "kernel_agreement": "kernel_agreement['middle']",
    }
    more_quantities = True
    quantities = {
        "kernel_agreement": quantity(
            "share of the points in the right cluster, kernel K-means", "start"
        ),
        "rings_agreement": quantity(
            "share of the points of ring and disc in the right cluster", "rings_draw method"
        ),
        "stretched_agreement": quantity(
            "share of the points of parallel clusters in the right cluster", "stretched_draw method"
        ),
    }

    data: str | None = knob("fcml-rings", "a ring about a disc", dataset="points")
    stretched: bool = knob(True, "also draw two long clusters side by side")
    methods: list[str] = knob(
        ["kmeans"], "how to cluster", choices=("kmeans", "mixture"), distinct=True
    )
    offset: list[float] = knob([4.0, 2.0], "centre of the second long cluster; of the first: 0")
    sd: list[float] = knob([0.5, 5.0], "standard deviations of a long cluster", above=0)
    n_each: int = knob(50, "objects in each long cluster", at_least=2, at_most=100_000)
    repetitions: int = knob(20, "draws of the long clusters", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts; the best is kept", at_least=1, at_most=1000)
    gamma: float = knob(1.0, "kernel K-means of the ring uses exp(-gamma |x - y|^2)", above=0)
    gammas: list[float] = knob(
        [], "values of gamma to compare; without them no kernel K-means", above=0, may_be_empty=True
    )
    kernel_starts: int = knob(
        20, "kernel K-means: starts of each random kind", at_least=1, at_most=200
    )
    show: list[int] = knob(
        [1, 5, 10, 30], "kernel K-means: iterations to draw", at_least=0, distinct=True
    )

    def problems(self) -> Iterator[str]:
        if self.data is None and not self.stretched:
            yield "study.data=null and study.stretched=false leave nothing to cluster"
        if self.gammas and (self.data is None or "kmeans" not in self.methods):
            yield "study.gammas; allowed: with study.data, where K-means is among the methods"
        for name, pair in (("offset", self.offset), ("sd", self.sd)):
            if len(pair) != 2:
                yield f"study.{name}={pair}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        quantities = dict[str, Quantity]()
        if self.data is not None:
            X = load(self.data).matrix
            ring = (np.square(X).sum(axis=1) > 0.75).astype(np.int64)  # 0 is the disc inside it
            gap = X[ring == 0].mean(axis=0) - X[ring == 1].mean(axis=0)
            quantities = self._found("rings", ring, [X], rng)
            quantities["rings_mean_gap"] = Quantity(np.linalg.norm(gap))
            if self.gammas:
                by_kmeans = quantities["rings_labels"].sel(method="kmeans").values
                quantities |= self._by_kernel(X, ring, by_kmeans.astype(np.int64), rng)
        if self.stretched:
            second = np.repeat([0, 1], self.n_each)
            mean, sd = second[:, None] * np.array(self.offset), np.array(self.sd)
            draws = (mean + sd * rng.standard_normal(mean.shape) for _ in range(self.repetitions))
            quantities |= self._found("stretched", second, draws, rng)
        return Outcome(**quantities)

    def _found(
        self, shape: str, truth: Ints, draws: Iterable[Floats], rng: Generator
    ) -> dict[str, Quantity]:
        """Clusters of each draw by each method; `truth` has the true cluster of each object."""
        X, found = zip(
            *((X, [self._cluster(method, X, rng) for method in self.methods]) for X in draws),
            strict=True,
        )
        labels = np.array([[label for label, _ in row] for row in found])  # (draw, method, N)
        centres = np.array([[centre for _, centre in row] for row in found])
        shares = [(labels[..., truth == k] == 0).mean(axis=-1) for k in (0, 1)]
        draw, method = axis(f"{shape}_draw", len(X)), axis("method", self.methods)
        point, cluster = axis(f"{shape}_point", len(truth)), numbered("cluster", 2)
        variable, true_cluster = numbered("variable", 2), numbered("true_cluster", 2)
        agreements = [[agreement(label, truth, 2) for label in row] for row in labels]
        return {
            f"{shape}_points": over(X, draw, point, variable),
            f"{shape}_labels": over(labels, draw, method, point),
            f"{shape}_centres": over(centres, draw, method, cluster, variable),
            f"{shape}_agreement": over(agreements, draw, method),
            f"{shape}_share_in_first": over(np.stack(shares, -1), draw, method, true_cluster),
        }

    def _by_kernel(
        self, X: Floats, truth: Ints, by_kmeans: Ints, rng: Generator
    ) -> dict[str, Quantity]:
        """Kernel K-means from the innermost object alone, other starts and other kernels."""
        N, R = len(X), self.kernel_starts
        middle = one_against_the_rest(N, np.array([np.argmin(np.square(X).sum(axis=1))]))
        lone = one_against_the_rest(N, rng.choice(N, R, replace=False))

        def found(labels: Ints, gamma: float = self.gamma) -> KernelKMeansFit:
            return kernel_kmeans(gaussian(X, X, gamma), labels, 2)

        def shares(ends: KernelKMeansFit) -> list[float]:
            return [agreement(labels, truth, 2) for labels in ends.labels]

        from_middle = found(middle)
        history, distortion = from_middle.history[:, 0], from_middle.distortion[0]  # (T + 1, N)
        random = [shares(found(labels)) for labels in (lone, rng.integers(2, size=(R, N)))]
        given = shares(found(np.concatenate([middle, by_kmeans])))
        by_gamma = [shares(found(middle, gamma))[0] for gamma in self.gammas]
        snapshot, point = axis("snapshot", sorted(self.show)), axis("rings_point", N)
        kinds = axis("random_start", ["single", "random"]), axis("restart", R)
        shown = history[np.minimum(snapshot.values, len(history) - 1)]
        return {
            "kernel_labels": over(shown, snapshot, point),
            "small_cluster": axis("iteration", len(history)).of(history.sum(axis=1)),
            "kernel_agreement": axis("start", ["middle", "kmeans"]).of(given),
            "random_agreement": over(random, *kinds),
            "agreement_by_gamma": axis("gamma", self.gammas).of(by_gamma),
            "few_distances": _in_two_ways(X, self.gamma),
            "kernel_distortion": axis("kernel_pass", len(distortion)).of(distortion),
        }

    def _cluster(self, method: str, X: Floats, rng: Generator) -> tuple[Ints, Floats]:
        """Labels (N,) and centres (2, D), the best of some starts."""
        if method == "kmeans":
            ends = kmeans(X, random_points(X, 2, rng, self.restarts))
            return ends.labels[ends.best], ends.centres[ends.best]
        em = fit(X, start_at_points(X, 2, rng, self.restarts), min_eigenvalue=1e-3, tol=1e-6)
        best = take(em.theta, [em.best])
        return responsibilities(X, best)[0].argmax(axis=1), best.mu[0]


def _in_two_ways(X: Floats, gamma: float) -> Quantity:
    """Distances of some objects from two clusters of them, by the kernel and by features.

    The inner products of the rows of a Cholesky factor, K = L L^T, are the kernel.
    """
    few = X[np.linspace(0, len(X) - 1, FEW).astype(int)]
    K, member = gaussian(few, few, gamma), np.arange(FEW) % 3 == 0
    L = np.linalg.cholesky(K)
    features = [np.square(L - L[own].mean(axis=0)).sum(axis=1) for own in (~member, member)]
    by_kernel = distances(K, member[None].astype(np.int64), 2)[0].T
    ways = axis("distance_by", ["kernel", "features"])
    return over([by_kernel, features], ways, numbered("cluster", 2), axis("few", FEW))
