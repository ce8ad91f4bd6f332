"""Components chosen by their probabilities, and objects drawn from them (FCML 6.3.1, 6.3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import numbered


@dataclass
class MixtureSample(Study):
    """Choose a component, then draw from it, again and again (FCML 6.3.1).

    Without means there are components only: an object is given, its responsibilities the weights.
    """

    weights: list[float] = knob([0.7, 0.3], "probabilities of the components", above=0, below=1)
    means: list[list[float]] = knob([[3.0, 3.0], [1.0, -3.0]], "their means", may_be_empty=True)
    variances: list[list[float]] = knob([[1.0, 2.0], [2.0, 1.0]], "their variances, per variable")
    show: list[int] = knob([1, 5, 10, 50], "objects after which to draw", at_least=1, distinct=True)
    repetitions: int = knob(2000, "samples", at_least=1, at_most=100_000)

    def problems(self) -> Iterator[str]:
        if abs(sum(self.weights) - 1) > 1e-9:
            yield f"study.weights={self.weights} sum to {sum(self.weights):g}; allowed: 1"
        for name, rows in (("means", self.means), ("variances", self.variances)):
            if self.means and [len(row) for row in rows] != [2] * len(self.weights):
                yield f"study.{name}={rows}: each of {len(self.weights)} components needs 2 numbers"
        if any(value <= 0 for row in self.variances for value in row):
            yield f"study.variances={self.variances}; allowed: numbers > 0"

    def run(self, rng: Generator) -> Outcome:
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
