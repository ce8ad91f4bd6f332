"""Relevance vectors of a classifier compared with support vectors (notes 2.7.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
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
    quantities = {
        "relevant": quantity("number of relevance vectors", "repetition"),
        "support": quantity("number of support vectors", "repetition"),
        "test_error": quantity(
            "share of the test points that are classified wrongly", "machine repetition"
        ),
        "precision": quantity("precision of a weight that is kept, in the first set", "kept"),
        "points": quantity("points of the first data set", "point variable"),
        "labels": quantity("class of a point", "point"),
        "vectors": quantity("whether a point is a vector of the machine", "machine point"),
        "plane_output": quantity("output of a machine on the map", "machine x2 x1"),
        "log_integral": quantity(
            "log of the integral of likelihood times prior", "likelihood integrated"
        ),
    }
    axes = {
        "repetition": axis_of("data set"),
        "machine": axis_of("relevance or support vector machine"),
        "kept": axis_of("weight that is kept"),
        "point": axis_of("point of the first data set"),
        "variable": axis_of("attribute"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
        "likelihood": axis_of("likelihood, with the prior of regression"),
        "integrated": axis_of("method of integration"),
    }

    n: int = knob(100, "points in a data set", at_least=8, at_most=500)
    spread: float = knob(0.6, "standard deviation of a cluster", above=0)
    width: float = knob(0.5, "standard deviation of a kernel", above=0)
    cost: float = knob(1.0, "C of the support vector machine", above=0)
    repetitions: int = knob(10, "data sets to draw", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        new, label = self._data(_NEW, rng)
        machines = [self._trained(rng) for _ in range(self.repetitions)]
        errors = [
            [np.mean((f > 0) != (label == 1)) for f in self._outputs(new, *each)]
            for each in machines
        ]
        X, t, first, other = machines[0]
        vectors = np.zeros((2, self.n), dtype=bool)
        vectors[0, first.kept[first.kept > 0] - 1] = True  # the constant is no point
        vectors[1] = other.support[0]
        side = np.linspace(-3, 3, _SIDE)
        plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        outputs = np.reshape(self._outputs(plane, *machines[0]), (2, _SIDE, _SIDE))
        Phi = np.column_stack([np.ones(6), np.linspace(-1, 1.5, 6)])
        targets = Phi @ [0.3, 1.0] + 0.5 * np.array([1, -1, 1, 1, -1, 1])
        integrals = [laplace_gap.integrals(Phi, targets, name) for name in laplace_gap.LIKELIHOODS]
        places = {"point": self.n, "variable": [1, 2], "x1": side, "x2": side}
        methods = {"likelihood": laplace_gap.LIKELIHOODS, "integrated": ["laplace", "summed"]}
        kinds = {"machine": ["relevance", "support"], "kept": len(first.kept)}
        return outcome(
            {"repetition": self.repetitions, **kinds, **places, **methods},
            relevant=("repetition", [np.sum(each[2].kept > 0) for each in machines]),
            support=("repetition", [each[3].support[0].sum() for each in machines]),
            test_error=("machine repetition", np.transpose(errors)),
            precision=("kept", first.alpha),
            points=("point variable", X),
            labels=("point", t.astype(int)),
            vectors=("machine point", vectors),
            plane_output=("machine x2 x1", outputs),
            log_integral=("likelihood integrated", integrals),
        )

    def _trained(
        self, rng: Generator
    ) -> tuple[Floats, Floats, relevance.RelevanceClassifier, svm.Svm]:
        """A data set and both machines."""
        X, t = self._data(self.n, rng)
        K = self._kernel(X, X)
        machine = relevance.fit(np.column_stack([np.ones(self.n), K]), t)
        return X, t, machine, svm.solve(K[None], 2 * t[None] - 1, self.cost, tol=1e-6)

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
