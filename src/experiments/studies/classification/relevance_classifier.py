"""Relevance vectors of a classifier compared with support vectors (notes 2.7.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import laplace_gap
from bythebook.models.classification import kernels, relevance, svm
from bythebook.models.types import Floats

_CENTRES = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])  # two of each class
_NEW = 2000
_SIDE = 61  # places along a side of the figure


@dataclass
class RelevanceClassifier(Study):
    """Relevance and support vector machines with Gaussian kernels, two classes in the plane."""

    headline = {"relevant": "median(relevant)", "support": "median(support)"}
    more_quantities = True
    quantities = {
        "relevant": quantity("number of relevance vectors", "set"),
        "support": quantity("number of support vectors", "set"),
        "test_error": quantity(
            "share of the test points that are classified wrongly", "machine set"
        ),
        "precision": quantity("precision of a weight that is kept", "kept"),
        "kept_weight": quantity("weight that is kept", "kept"),
        "kept_variance": quantity("posterior variance of a weight that is kept", "kept"),
        "slope": quantity("slope of likelihood and prior at the weights", "term kept"),
        "covariance": quantity("posterior covariance of the weights that are kept", "kept middle"),
        "curvature": quantity("curvature of the log posterior at the weights", "middle other"),
        "points": quantity("points of the data", "point variable"),
        "labels": quantity("class of a point", "point"),
        "vectors": quantity("whether a point is a vector of the machine", "machine point"),
        "plane_output": quantity("output of a machine on the map", "machine x2 x1"),
    }

    n: int = knob(100, "points in a data set", at_least=8, at_most=500)
    spread: float = knob(0.6, "standard deviation of a cluster", above=0)
    width: float = knob(0.5, "standard deviation of a kernel", above=0)
    c: float = knob(1.0, "C of the support vector machine", above=0)
    sets: int = knob(10, "data sets to draw", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        new, label = self._data(_NEW, rng)
        errors, kept = np.empty((2, self.sets)), np.empty((2, self.sets), dtype=int)
        shown = {}
        side = np.linspace(-3, 3, _SIDE)
        plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        for s in range(self.sets):
            X, t = self._data(self.n, rng)
            K = self._kernel(X, X)
            machine = relevance.fit(np.column_stack([np.ones(self.n), K]), t)
            other = svm.solve(K[None], 2 * t[None] - 1, self.c, tol=1e-6)
            machines = X, t, machine, other
            errors[:, s] = [np.mean((f > 0) != (label == 1)) for f in self._outputs(new, *machines)]
            kept[:, s] = np.sum(machine.kept > 0), other.support[0].sum()
            if s == 0:
                point = axis("point", self.n)
                vectors = np.zeros((2, self.n), dtype=bool)
                vectors[0, machine.kept[machine.kept > 0] - 1] = True
                vectors[1] = other.support[0]
                kinds = axis("machine", ["relevance", "support"])
                Phi = np.column_stack([np.ones(self.n), K])[:, machine.kept]
                kept_axis = axis("kept", len(machine.kept))
                p = 1 / (1 + np.exp(-Phi @ machine.w))
                slopes = Phi.T @ (t - p), machine.alpha * machine.w
                curvature = Phi.T @ np.diag(p * (1 - p)) @ Phi + np.diag(machine.alpha)
                middle, other_kept = (axis(name, len(Phi.T)) for name in ("middle", "other"))
                shown = {
                    "precision": kept_axis.of(machine.alpha),
                    "kept_weight": kept_axis.of(machine.w),
                    "kept_variance": kept_axis.of(np.diagonal(machine.covariance)),
                    # Of the log likelihood and of the prior, which meet at the mode.
                    "slope": over(slopes, axis("term", ["likelihood", "prior"]), kept_axis),
                    "covariance": over(machine.covariance, kept_axis, middle),
                    "curvature": over(curvature, middle, other_kept),
                    "points": over(X, point, axis("variable", [1, 2])),
                    "labels": point.of(t.astype(int)),
                    "vectors": over(vectors, kinds, point),
                    "plane_output": over(
                        np.reshape(self._outputs(plane, *machines), (2, _SIDE, _SIDE)),
                        *(kinds, axis("x2", side), axis("x1", side)),
                    ),
                }
        sets, kinds = axis("set", self.sets), axis("machine", ["relevance", "support"])
        Phi = np.column_stack([np.ones(6), np.linspace(-1, 1.5, 6)])
        t = Phi @ [0.3, 1.0] + 0.5 * np.array([1, -1, 1, 1, -1, 1])
        integrals = [laplace_gap.integrals(Phi, t, name) for name in laplace_gap.LIKELIHOODS]
        return Outcome(
            relevant=sets.of(kept[0]),
            support=sets.of(kept[1]),
            test_error=over(errors, kinds, sets),
            log_integral=over(
                integrals,
                axis("likelihood", laplace_gap.LIKELIHOODS),
                axis("integrated", ["laplace", "summed"]),
            ),
            **shown,
        )

    def _kernel(self, x: Floats, X: Floats) -> Floats:
        return kernels.gaussian(x, X, 1 / (2 * self.width**2))

    def _outputs(
        self,
        x: Floats,
        X: Floats,
        t: Floats,
        machine: relevance.RelevanceClassifier,
        other: svm.Svm,
    ) -> tuple[Floats, Floats]:
        """Outputs of both machines, trained on X and t, at points x (M, 2): class 1 above zero."""
        Phi = self._kernel(x, X)
        first = np.column_stack([np.ones(len(x)), Phi])[:, machine.kept] @ machine.w
        return first, Phi @ (other.alpha[0] * (2 * t - 1)) + other.bias[0]

    def _data(self, N: int, rng: Generator) -> tuple[Floats, Floats]:
        """Points (N, 2) and labels 0 or 1: clusters at opposite corners are of one class."""
        cluster = rng.permutation(np.arange(N) % 4)
        X = _CENTRES[cluster] + self.spread * rng.standard_normal((N, 2))
        return X, (cluster >= 2).astype(np.float64)
