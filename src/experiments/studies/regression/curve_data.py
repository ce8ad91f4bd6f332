"""Noisy points of a curve, and the distribution they come from (PRML appendix A, notes 2.1)."""

from dataclasses import dataclass

from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import CurveOrData


@dataclass
class CurveData(CurveOrData, Study):
    """Data about a curve, and their residuals (PRML A)."""

    headline = {"residual_rms": "sqrt(mean(residual**2))"}

    repetitions: int = knob(1, "data sets to draw", at_least=1, at_most=100_000)

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        sets, point = axis("repetition", len(x)), axis("point", self.size)
        quantities: dict[str, Quantity] = {}
        if self.curve != "unknown":
            grid = axis("x", self.grid())
            quantities["residual"] = over(t - self.truth(x), sets, point)
            quantities["truth"] = grid.of(self.truth(grid.values))
        return Outcome(inputs=over(x, sets, point), targets=over(t, sets, point), **quantities)
