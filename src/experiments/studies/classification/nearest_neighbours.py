"""K nearest neighbours: decision regions, and the choice of K (FCML 5.3.1.1).

With a kernel instead of the inner product the distance is k(x,x) - 2 k(x,y) + k(y,y) (5.3.2.6).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane, labelled
from bythebook.models.classification import kernels, knn
from bythebook.models.datasets import load
from bythebook.models.types import Floats, Ints

DISTANCES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "none": knn.squared_distances,
    "linear": partial(knn.kernel_distances, kernel=kernels.linear),
    "gaussian": partial(knn.kernel_distances, kernel=partial(kernels.gaussian, gamma=1.0)),
    "polynomial": partial(knn.kernel_distances, kernel=partial(kernels.polynomial, gamma=2.0)),
}
METHODS = ("regions", "cross-validation")


@dataclass
class NearestNeighbours(Plane, Study):
    """Decision regions of K nearest neighbours, and cross-validation errors (FCML 5.3.1.1)."""

    headline = {"best_k": "argmin(mean(cross_validation_error, over='repetition'))"}
    more_quantities = True
    quantities = {
        "cross_validation_error": quantity(
            "share of the left-out points that are classified wrongly", "k repetition"
        ),
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "region": quantity("whether class 1 wins at a place on the map", "k kernel x2 x1"),
        "area": quantity("share of the map that class 1 wins", "k kernel repetition"),
        "islands": quantity("connected regions of class 1", "k kernel repetition"),
        "most_votes": quantity("largest number of votes for class 1", "k kernel repetition"),
        "tied_area": quantity("share of the map with equal votes", "k kernel repetition"),
        "smallest_k_without_class_1": quantity("smallest K with which class 1 wins nowhere"),
        "least_winning_votes": quantity(
            "smallest number of votes with which class 1 wins", "k kernel repetition"
        ),
    }

    flipped: int = knob(0, "points that get the wrong label", at_least=0)
    ks: list[int] = knob([5, 39], "neighbours that vote, ascending", at_least=1, distinct=True)
    kernels: list[str] = knob(
        ["none"], "kernels of the regions", choices=tuple(DISTANCES), distinct=True
    )
    methods: list[str] = knob(["regions"], "what to compute", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds of a partition", at_least=2)
    partitions: int = knob(100, "random partitions of each set", at_least=1, at_most=10_000)

    def rules(self) -> Iterator[str]:
        if self.ks != sorted(self.ks):
            yield f"study.ks={self.ks}; allowed: ascending"
        n = sum(self.sizes) if self.data is None else len(load(self.data).matrix)
        most = max(self.ks)
        if most > n or self.flipped > n:
            yield f"study.ks={self.ks}, flipped={self.flipped}: there are {n} points"
        elif "cross-validation" in self.methods and most > n - -(-n // min(self.folds, n)):
            yield f"study.folds={self.folds}, ks up to {most}: too many for {n} points"

    def run(self, rng: Generator) -> Outcome:
        X, labels = self.points(rng)
        t = (labels > 0).astype(np.int64)
        if self.flipped:
            wrong = rng.permuted(np.broadcast_to(np.arange(t.shape[1]), t.shape), axis=1)
            wrong = wrong[:, : self.flipped]
            np.put_along_axis(t, wrong, 1 - np.take_along_axis(t, wrong, axis=1), axis=1)
        k, repetition = axis("k", self.ks), axis("repetition", len(X))
        found: dict[str, Quantity] = {}
        if "regions" in self.methods:
            found |= self._regions(X, t, k, repetition)
        if "cross-validation" in self.methods:
            errors = []
            for points, of in zip(X, t, strict=True):
                folds = knn.random_partitions(len(of), self.folds, self.partitions, rng)
                errors.append(knn.fold_errors(points, of, self.ks, folds).mean(0))
            found["cross_validation_error"] = over(np.transpose(errors), k, repetition)
        return Outcome(**labelled(X[0], t[0]), **found)

    def _regions(self, X: Floats, t: Ints, k: Axis, repetition: Axis) -> dict[str, Quantity]:
        """Votes for class 1 on the map, and the region that they win."""
        x1, x2, grid = self.mesh()
        new, kernel = grid.reshape(-1, 2), axis("kernel", self.kernels)
        tally = np.empty((len(k), len(kernel), len(X), len(new), 2), dtype=np.int64)
        apart = np.zeros(len(kernel))  # the largest difference from the plain distance
        for r, (points, of) in enumerate(zip(X, t, strict=True)):
            plain = knn.squared_distances(new, points)
            for i, name in enumerate(self.kernels):
                distances = DISTANCES[name](new, points)
                apart[i] = max(apart[i], np.abs(distances - plain).max() / plain.max())
                tally[:, i, r] = knn.votes(distances, of, self.ks, 2)
        ones, for_1 = knn.majority(tally) == 1, tally[..., 1]
        region = ones.reshape(*ones.shape[:-1], len(x2), len(x1))
        axes = k, kernel, repetition
        return {
            "region": over(region[:, :, 0], k, kernel, x2, x1),
            "area": over(ones.mean(-1), *axes),
            "islands": over(knn.islands(region), *axes),
            "most_votes": over(for_1.max(-1), *axes),
            "tied_area": over((tally[..., 0] == for_1).mean(-1), *axes),
            "smallest_k_without_class_1": over(
                knn.smallest_k_without(*np.bincount(t[0], minlength=2))
            ),
            "least_winning_votes": over(np.where(ones, for_1, np.inf).min(-1), *axes),
            "relative_distance_gap": kernel.of(apart),
        }
