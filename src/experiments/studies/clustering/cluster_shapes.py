"""Clusters that are not round: K-means against its kernel version and a mixture of Gaussians.

FCML 6.2.2, 6.2.3 and 6.3.4.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.classification.kernels import gaussian
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.gaussian_mixture import fit, responsibilities
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.kernel_kmeans import (
    KernelKMeansFit,
    kernel_kmeans,
    one_against_the_rest,
)
from bythebook.models.clustering.kmeans import kmeans, random_points
from bythebook.models.datasets import load
from bythebook.models.em import take
from bythebook.models.types import Floats, Ints

_LIMIT = 5000  # iterations of EM
Found = tuple[dict[str, Any], dict[str, Any]]  # coordinates and quantities


@dataclass
class ClusterShapes(Study):
    """Clusters found by each method: a ring about a disc, or two long parallel clusters."""

    headline = {
        "rings_agreement": "mean(rings_agreement)",
        "stretched_agreement": "mean(stretched_agreement)",
        "kernel_agreement": "kernel_agreement['middle']",
    }
    quantities = {
        "rings_points": quantity(
            "objects of the disc and the ring", "rings_draw rings_point variable"
        ),
        "rings_labels": quantity("cluster of each object", "rings_draw method rings_point"),
        "rings_centres": quantity("means of the clusters", "rings_draw method cluster variable"),
        "rings_agreement": quantity(
            "share of the objects in the right cluster", "rings_draw method"
        ),
        "rings_share_in_first": quantity(
            "share of a true cluster in the first cluster", "rings_draw method true_cluster"
        ),
        "stretched_points": quantity(
            "objects of two long clusters", "stretched_draw stretched_point variable"
        ),
        "stretched_labels": quantity(
            "cluster of each object", "stretched_draw method stretched_point"
        ),
        "stretched_centres": quantity(
            "means of the clusters", "stretched_draw method cluster variable"
        ),
        "stretched_agreement": quantity(
            "share of the objects in the right cluster", "stretched_draw method"
        ),
        "stretched_share_in_first": quantity(
            "share of a true cluster in the first cluster", "stretched_draw method true_cluster"
        ),
        "rings_mean_gap": quantity("distance between the means of disc and ring"),
        "kernel_labels": quantity("cluster by kernel K-means", "snapshot rings_point"),
        "small_cluster": quantity("objects in the cluster that begins with one", "iteration"),
        "kernel_agreement": quantity(
            "share of the objects in the right cluster, kernel K-means", "start"
        ),
        "random_agreement": quantity(
            "share of the objects in the right cluster, kernel K-means", "random_start restart"
        ),
        "agreement_by_gamma": quantity(
            "share of the objects in the right cluster, kernel K-means", "gamma"
        ),
    }
    axes = {
        "rings_draw": axis_of("data set"),
        "rings_point": axis_of("object"),
        "stretched_draw": axis_of("data set"),
        "stretched_point": axis_of("object"),
        "variable": axis_of("variable"),
        "method": axis_of("method"),
        "cluster": axis_of("cluster"),
        "true_cluster": axis_of("true cluster"),
        "snapshot": axis_of("iteration"),
        "iteration": axis_of("iteration"),
        "start": axis_of("start"),
        "random_start": axis_of("kind of random start"),
        "restart": axis_of("start"),
        "gamma": axis_of("parameter of the kernel"),
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
    snapshots: list[int] = knob(
        [1, 5, 10, 30], "kernel K-means: iterations to record", at_least=0, distinct=True
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
        coords: dict[str, Any] = {"variable": [1, 2], "cluster": [1, 2], "true_cluster": [1, 2]}
        coords["method"], parts = self.methods, []
        if self.data is not None:
            X = load(self.data).matrix
            ring = (np.square(X).sum(axis=1) > 0.75).astype(np.int64)  # 0 is the disc inside it
            gap = X[ring == 0].mean(axis=0) - X[ring == 1].mean(axis=0)
            parts = [self._found("rings", ring, [X], rng)]
            parts.append(({}, {"rings_mean_gap": float(np.linalg.norm(gap))}))
            if self.gammas:
                labels = parts[0][1]["rings_labels"][1][0, self.methods.index("kmeans")]
                parts.append(self._by_kernel(X, ring, labels, rng))
        if self.stretched:
            second = np.repeat([0, 1], self.n_each)
            mean, sd = second[:, None] * np.array(self.offset), np.array(self.sd)
            draws = (mean + sd * rng.standard_normal(mean.shape) for _ in range(self.repetitions))
            parts.append(self._found("stretched", second, draws, rng))
        coords |= {name: at for axes, _ in parts for name, at in axes.items()}
        return outcome(coords, **{name: v for _, found in parts for name, v in found.items()})

    def _found(self, shape: str, truth: Ints, draws: Iterable[Floats], rng: Generator) -> Found:
        """Clusters of each draw by each method; `truth` has the true cluster of each object."""
        X, found = zip(
            *((X, [self._cluster(method, X, rng) for method in self.methods]) for X in draws),
            strict=True,
        )
        labels = np.array([[label for label, _ in row] for row in found])  # (draw, method, N)
        centres = [[centre for _, centre in row] for row in found]
        shares = [(labels[..., truth == k] == 0).mean(axis=-1) for k in (0, 1)]
        agreements = [[agreement(label, truth, 2) for label in row] for row in labels]
        draw, point = f"{shape}_draw", f"{shape}_point"
        return {draw: len(X), point: len(truth)}, {
            f"{shape}_points": (f"{draw} {point} variable", X),
            f"{shape}_labels": (f"{draw} method {point}", labels),
            f"{shape}_centres": (f"{draw} method cluster variable", centres),
            f"{shape}_agreement": (f"{draw} method", agreements),
            f"{shape}_share_in_first": (f"{draw} method true_cluster", np.stack(shares, -1)),
        }

    def _by_kernel(self, X: Floats, truth: Ints, by_kmeans: Ints, rng: Generator) -> Found:
        """Kernel K-means from the innermost object alone, other starts and other kernels."""
        N, R = len(X), self.kernel_starts
        middle = one_against_the_rest(N, np.array([np.argmin(np.square(X).sum(axis=1))]))
        lone = one_against_the_rest(N, rng.choice(N, R, replace=False))

        def found(labels: Ints, gamma: float = self.gamma) -> KernelKMeansFit:
            return kernel_kmeans(gaussian(X, X, gamma), labels, 2)

        def shares(ends: KernelKMeansFit) -> list[float]:
            return [agreement(labels, truth, 2) for labels in ends.labels]

        history = found(middle).history[:, 0]  # (T + 1, N)
        random = [shares(found(labels)) for labels in (lone, rng.integers(2, size=(R, N)))]
        snapshots = np.array(sorted(self.snapshots))
        given = shares(found(np.concatenate([middle, by_kmeans[None]])))
        coords = {"snapshot": snapshots, "iteration": len(history), "start": ["middle", "kmeans"]}
        coords |= {"random_start": ["single", "random"], "restart": R, "gamma": self.gammas}
        return coords, {
            "kernel_labels": (
                "snapshot rings_point",
                history[np.minimum(snapshots, len(history) - 1)],
            ),
            "small_cluster": ("iteration", history.sum(axis=1)),
            "kernel_agreement": ("start", given),
            "random_agreement": ("random_start restart", random),
            "agreement_by_gamma": ("gamma", [shares(found(middle, g))[0] for g in self.gammas]),
        }

    def _cluster(self, method: str, X: Floats, rng: Generator) -> tuple[Ints, Floats]:
        """Labels (N,) and centres (2, D), the best of some starts."""
        if method == "kmeans":
            ends = kmeans(X, random_points(X, 2, rng, self.restarts))
            return ends.labels[ends.best], ends.centres[ends.best]
        start = start_at_points(X, 2, rng, self.restarts)
        em = fit(X, start, min_eigenvalue=1e-3, tol=1e-6, max_iter=_LIMIT)
        best = take(em.theta, [em.best])
        return responsibilities(X, best)[0].argmax(axis=1), best.mu[0]
