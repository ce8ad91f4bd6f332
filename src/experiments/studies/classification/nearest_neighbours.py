"""K nearest neighbours: decision regions, and the choice of K (FCML 5.3.1.1).

With a kernel instead of the inner product the distance is k(x,x) - 2 k(x,y) + k(y,y) (5.3.2.6).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane
from bythebook.models.classification import kernels, knn
from bythebook.models.datasets import load
from bythebook.models.types import Bools, Floats, Ints

DISTANCES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "none": knn.squared_distances,
    "linear": partial(knn.kernel_distances, kernel=kernels.linear),
    "gaussian": partial(knn.kernel_distances, kernel=partial(kernels.gaussian, gamma=1.0)),
    "polynomial": partial(knn.kernel_distances, kernel=partial(kernels.polynomial, gamma=2.0)),
}


@dataclass
class NearestNeighbours(Plane, Study):
    """Decision regions of K nearest neighbours, and cross-validation errors (FCML 5.3.1.1)."""

    headline = {"best_k": "argmin(mean(cross_validation_error, over='repetition'))"}
    quantities = {
        "cross_validation_error": quantity(
            "share of the left-out points that are classified wrongly", "k repetition"
        ),
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "region": quantity("whether class 1 wins at a place on the map", "k kernel x2 x1"),
        "area": quantity("share of the map that class 1 wins", "k kernel repetition"),
        "islands": quantity("connected regions of class 1", "k kernel repetition"),
    }
    axes = {
        "k": axis_of("number of neighbours K"),
        "repetition": axis_of("set of points"),
        "point": axis_of("point of the first set"),
        "attribute": axis_of("attribute"),
        "kernel": axis_of("kernel of the distance"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
    }

    flipped: int = knob(0, "points that get the wrong label", at_least=0)
    ks: list[int] = knob([5, 39], "neighbours that vote, ascending", at_least=1, distinct=True)
    kernels: list[str] = knob(
        ["none"], "kernels of the regions", choices=tuple(DISTANCES), distinct=True
    )
    folds: int = knob(10, "folds of a partition", at_least=2)
    partitions: int = knob(
        0, "random partitions of each set; 0: no cross-validation", at_least=0, at_most=10_000
    )

    def rules(self) -> Iterator[str]:
        if self.ks != sorted(self.ks):
            yield f"study.ks={self.ks}; allowed: ascending"
        n = sum(self.sizes) if self.data is None else len(load(self.data).matrix)
        most = max(self.ks)
        if most > n or self.flipped > n:
            yield f"study.ks={self.ks}, flipped={self.flipped}: there are {n} points"
        elif self.partitions and most > n - -(-n // min(self.folds, n)):
            yield f"study.folds={self.folds}, ks up to {most}: too many for {n} points"

    def run(self, rng: Generator) -> Outcome:
        X, labels = self.points(rng)
        t = (labels > 0).astype(np.int64)
        if self.flipped:
            wrong = rng.permuted(np.broadcast_to(np.arange(t.shape[1]), t.shape), axis=1)
            wrong = wrong[:, : self.flipped]
            np.put_along_axis(t, wrong, 1 - np.take_along_axis(t, wrong, axis=1), axis=1)
        x1, x2, grid = self.grid()
        regions = self._regions(X, t, grid)
        places = {"point": t.shape[1], "attribute": [1, 2], "x1": x1, "x2": x2}
        found = {"cross_validation_error": ("k repetition", self._errors(X, t, rng))}
        return outcome(
            {"k": self.ks, "kernel": self.kernels, "repetition": len(X), **places},
            inputs=("point attribute", X[0]),
            label=("point", t[0]),
            region=("k kernel x2 x1", regions[:, :, 0]),
            area=("k kernel repetition", regions.mean((-2, -1))),
            islands=("k kernel repetition", knn.islands(regions)),
            **found if self.partitions else {},
        )

    def _regions(self, X: Floats, t: Ints, grid: Floats) -> Bools:
        """Where class 1 wins the vote, for each K, kernel, set of points and place of the map."""
        new = grid.reshape(-1, 2)
        tally = np.empty((len(self.ks), len(self.kernels), len(X), len(new), 2), dtype=np.int64)
        for r, (points, of) in enumerate(zip(X, t, strict=True)):
            for i, name in enumerate(self.kernels):
                tally[:, i, r] = knn.votes(DISTANCES[name](new, points), of, self.ks, 2)
        ones = knn.majority(tally) == 1
        return np.asarray(ones.reshape(*ones.shape[:-1], *grid.shape[:2]))

    def _errors(self, X: Floats, t: Ints, rng: Generator) -> Floats:
        """Mean cross-validation errors over the partitions, for each K and set of points."""
        errors = []
        for points, of in zip(X, t, strict=True) if self.partitions else ():
            folds = knn.random_partitions(len(of), self.folds, self.partitions, rng)
            errors.append(knn.fold_errors(points, of, self.ks, folds).mean(0))
        return np.transpose(errors)
