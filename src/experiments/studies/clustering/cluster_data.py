"""The points before any clustering: a data set (PRML A), or objects drawn one by one (FCML 6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import numbered, of_points, standardised
from bythebook.models.datasets import load
from bythebook.models.regression.polynomials import fit_orders, loo_loss
from bythebook.models.types import Floats


@dataclass
class ClusterData(Study):
    """Points as observed and rescaled, or draws from a mixture object by object (FCML 6.3).

    Without means only components are drawn: an object is given, and its responsibilities are the
    weights.
    """

    data: str | None = knob(
        "old-faithful", "the points; null draws from a mixture", dataset="points"
    )
    standardise: bool = knob(True, "rescale each variable to mean 0 and standard deviation 1")
    weights: list[float] = knob([0.7, 0.3], "probabilities of the components", above=0, below=1)
    means: list[list[float]] = knob([[3.0, 3.0], [1.0, -3.0]], "their means", may_be_empty=True)
    variances: list[list[float]] = knob([[1.0, 2.0], [2.0, 1.0]], "their variances, per variable")
    show: list[int] = knob([1, 5, 10, 50], "objects after which to draw", at_least=1, distinct=True)
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
        points = of_points(standardised(X) if self.standardise else X)
        return Outcome(
            points=points,
            observed=of_points(X),
            # Of the second variable, predicted without the first and from it.
            left_out_loss=axis("by", ["mean", "line"]).of(loo_loss(fit_orders(x, t, 1))),
        )

    def _drawn(self, rng: Generator) -> Outcome:
        component, n = numbered("component", len(self.weights)), numbered("object", max(self.show))
        z = rng.choice(len(component), size=(self.repetitions, len(n)), p=self.weights)
        quantities = {
            "probability": component.of(self.weights),
            "chosen": over(z + 1, numbered("repetition", self.repetitions), n),
        }
        if self.means:
            noise = rng.standard_normal((*z.shape, 2))
            X = np.array(self.means)[z] + np.sqrt(np.array(self.variances)[z]) * noise
            quantities["objects"] = over(X[0], n, numbered("variable", 2))  # of repetition 1
        return Outcome(**quantities)
