"""The points before any clustering: a data set (PRML A), or objects drawn one by one (FCML 6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import standardised
from bythebook.models.datasets import load
from bythebook.models.regression.polynomials import fit_orders, loo_loss
from bythebook.models.types import Floats


@dataclass
class ClusterData(Study):
    """Points as observed and rescaled, or draws from a mixture object by object (FCML 6.3).

    Without means only components are drawn: an object is given, and its responsibilities are the
    weights.
    """

    headline = {"points": "size(points, over='point')"}
    quantities = {
        "points": quantity("coordinates of the data, rescaled if required", "point variable"),
        "observed": quantity("coordinates of the data as observed", "point variable"),
        "left_out_loss": quantity(
            "mean squared error of the second variable of points left out of the fit", "by"
        ),
        "probability": quantity("probability of a component", "component"),
        "chosen": quantity("component of an object", "repetition object"),
        "objects": quantity(
            "coordinates of the objects of the first repetition", "object variable"
        ),
    }
    axes = {
        "point": axis_of("point of the data"),
        "variable": axis_of("variable"),
        "by": axis_of("prediction by the mean, or by a line through the first variable"),
        "component": axis_of("component"),
        "repetition": axis_of("sample"),
        "object": axis_of("object in the order of drawing"),
    }

    data: str | None = knob(
        "old-faithful", "the points; null draws from a mixture", dataset="points"
    )
    standardise: bool = knob(True, "rescale each variable to mean 0 and standard deviation 1")
    weights: list[float] = knob([0.7, 0.3], "probabilities of the components", above=0, below=1)
    means: list[list[float]] = knob([[3.0, 3.0], [1.0, -3.0]], "their means", may_be_empty=True)
    variances: list[list[float]] = knob([[1.0, 2.0], [2.0, 1.0]], "their variances, per variable")
    n: int = knob(50, "objects in a sample", at_least=1, at_most=100_000)
    repetitions: int = knob(2000, "samples", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if self.data is not None and load(self.data).matrix.shape[1] != 2:
            yield f"study.data={self.data} has not two variables"
        if abs(sum(self.weights) - 1) > 1e-9:
            yield f"study.weights={self.weights} sum to {sum(self.weights):g}; allowed: 1"
        for name, rows in (("means", self.means), ("variances", self.variances)):
            if self.means and [len(row) for row in rows] != [2] * len(self.weights):
                yield f"study.{name}={rows}: each of {len(self.weights)} components needs 2 numbers"
        if any(value <= 0 for row in self.variances for value in row):
            yield f"study.variances={self.variances}; allowed: numbers > 0"

    def run(self, rng: Generator) -> Outcome:
        return self._drawn(rng) if self.data is None else self._observed(load(self.data).matrix)

    def _observed(self, X: Floats) -> Outcome:
        x, t = X.T
        return outcome(
            {"point": len(X), "variable": [1, 2], "by": ["mean", "line"]},
            points=("point variable", standardised(X) if self.standardise else X),
            observed=("point variable", X),
            left_out_loss=("by", loo_loss(fit_orders(x, t, 1))),
        )

    def _drawn(self, rng: Generator) -> Outcome:
        K = len(self.weights)
        z = rng.choice(K, size=(self.repetitions, self.n), p=self.weights)
        coords: dict[str, Any] = {"component": np.arange(1, K + 1), "repetition": len(z)}
        coords["object"] = np.arange(1, self.n + 1)
        found: dict[str, Any] = {}
        if self.means:
            noise = rng.standard_normal((*z.shape, 2))
            X = np.array(self.means)[z] + np.sqrt(np.array(self.variances)[z]) * noise
            coords["variable"] = [1, 2]
            found["objects"] = ("object variable", X[0])
        return outcome(
            coords,
            probability=("component", self.weights),
            chosen=("repetition object", z + 1),
            **found,
        )
