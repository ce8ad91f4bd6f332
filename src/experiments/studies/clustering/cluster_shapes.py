"""Clusters that are not round: K-means against a mixture of Gaussians (FCML 6.2.2, 6.3.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.clustering.mixture_path import agreement
from models.clustering.gaussian_mixture import fit, responsibilities
from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.kmeans import kmeans, random_points
from models.datasets import load
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

METHODS = {"kmeans": "K-means", "mixture": "Gaussian mixture"}
RIGHT = 0.95  # share of the objects that makes a clustering the true one


class _Clustering(NamedTuple):
    labels: Ints  # (N,)
    centres: Floats  # (2, D)


@dataclass
class ClusterShapes(Study):
    """Two clusters, a ring about a disc or two long parallel ones, and which method finds them."""

    data: str | None = knob("fcml-rings", "a ring about a disc", dataset=True)
    stretched: bool = knob(True, "also draw two long clusters side by side")
    methods: list[str] = knob(["kmeans"], "how to cluster", choices=tuple(METHODS), distinct=True)
    offset: list[float] = knob([4.0, 2.0], "centre of the second long cluster; of the first: 0")
    sd: list[float] = knob([0.5, 5.0], "standard deviations of a long cluster", above=0)
    n_each: int = knob(50, "objects in each long cluster", at_least=2, at_most=100_000)
    repetitions: int = knob(20, "draws of the long clusters", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts; the best is kept", at_least=1, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if self.data is None and not self.stretched:
            yield "study.data=null and study.stretched=false leave nothing to cluster"
        for name, pair in (("offset", self.offset), ("sd", self.sd)):
            if len(pair) != 2:
                yield f"study.{name}={pair}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        metrics: dict[str, Scalar] = {}
        arrays: dict[str, Floats | Ints] = {}
        if self.data is not None:
            X = load(self.data).matrix
            truth = (np.square(X).sum(axis=1) > 0.75).astype(np.int64)  # half-way between the two
            gap = X[truth == 0].mean(axis=0) - X[truth == 1].mean(axis=0)
            metrics["rings_mean_gap"] = float(np.linalg.norm(gap))
            metrics["rings_share_a_mean"] = bool(np.linalg.norm(gap) < 0.1 * X.std())
            self._record("rings", X, truth, rng, metrics, arrays)
        if self.stretched:
            truth = np.repeat([0, 1], self.n_each)
            found = {method: np.zeros(self.repetitions) for method in self.methods}
            nearer = np.zeros(self.repetitions, dtype=bool)
            along = np.zeros(self.repetitions, dtype=bool)
            for r in range(self.repetitions):
                X = truth[:, None] * np.array(self.offset)
                X = X + np.array(self.sd) * rng.standard_normal(X.shape)
                if r == 0:
                    self._record("stretched", X, truth, rng, metrics, arrays)
                for method in self.methods:
                    ends = self._cluster(method, X, rng)
                    found[method][r] = agreement(ends.labels, truth, 2)
                    if method == "kmeans":
                        nearer[r] = _some_nearer_to_the_other(X, truth, ends.centres)
                        across = np.abs(ends.centres[1] - ends.centres[0])
                        along[r] = (across[0] > across[1]) == (self.sd[0] > self.sd[1])
            for method, shares in found.items():
                metrics[f"mean_agreement_{method}_stretched"] = float(shares.mean())
                metrics[f"{method}_always_finds_stretched"] = bool((shares >= RIGHT).all())
                metrics[f"{method}_always_fails_stretched"] = bool((shares < RIGHT).all())
                arrays[f"agreement_{method}_stretched"] = shares
            if "kmeans" in found:
                metrics["some_nearer_to_the_other_mean"] = bool(nearer.all())
                metrics["kmeans_cuts_across_long_axis"] = bool(along.all())
        return Outcome(metrics, arrays=arrays)

    def _record(
        self,
        shape: str,
        X: Floats,
        truth: Ints,
        rng: Generator,
        metrics: dict[str, Scalar],
        arrays: "dict[str, Floats | Ints]",
    ) -> None:
        arrays |= {f"X_{shape}": X, f"truth_{shape}": truth}
        for method in self.methods:
            ends = self._cluster(method, X, rng)
            share = agreement(ends.labels, truth, 2)
            metrics[f"agreement_{method}_{shape}"] = share
            metrics[f"{method}_fails_{shape}"] = share < RIGHT
            arrays |= {f"labels_{method}_{shape}": ends.labels}
            arrays |= {f"centres_{method}_{shape}": ends.centres}

    def _cluster(self, method: str, X: Floats, rng: Generator) -> _Clustering:
        """The best of some starts."""
        if method == "kmeans":
            ends = kmeans(X, random_points(X, 2, rng, self.restarts))
            return _Clustering(ends.labels[ends.best], ends.centres[ends.best])
        em = fit(X, start_at_points(X, 2, rng, self.restarts), min_eigenvalue=1e-3, tol=1e-6)
        labels = responsibilities(X, em.theta)[em.best].argmax(axis=1)
        return _Clustering(labels, em.theta.mu[em.best])

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import SYMBOLS, grid

        shapes = ["rings"] * (self.data is not None) + ["stretched"] * self.stretched
        columns = [(shape, method) for shape in shapes for method in self.methods]
        figure, axes = grid(1, len(columns), 0.9)
        for ax, (shape, method) in zip(axes[0], columns, strict=True):
            X, labels = outcome.arrays[f"X_{shape}"], outcome.arrays[f"labels_{method}_{shape}"]
            size = 2.2 if len(X) > 500 else 4
            for k, centre in enumerate(outcome.arrays[f"centres_{method}_{shape}"]):
                mark = {"color": f"C{k}", "markersize": size, "alpha": 0.7}
                ax.plot(*X[labels == k].T, SYMBOLS[k], **mark)
                ax.plot(*centre, SYMBOLS[k], color=f"C{k}", markersize=11, markeredgecolor="black")
            share = outcome.metrics[f"agreement_{method}_{shape}"]
            ax.set(xlabel="$x_1$", ylabel="$x_2$")
            ax.set_title(f"{METHODS[method]}: {share:.0%} as in the true clusters")
            if shape == "rings":
                ax.set_aspect("equal")
        return {"clusters": figure}


def _some_nearer_to_the_other(X: Floats, truth: Ints, centres: Floats) -> bool:
    """Whether in one of the true clusters some objects have one mean nearest, some the other."""
    squared = np.square(X[:, None] - centres).sum(axis=2)
    first: Bools = squared[:, 0] < squared[:, 1]
    return any(0 < int(first[truth == k].sum()) < int((truth == k).sum()) for k in (0, 1))
