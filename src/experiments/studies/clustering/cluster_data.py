"""The points before any clustering: their scales, and how one variable helps another (PRML A)."""

from collections.abc import Iterator
from dataclasses import dataclass

from numpy.random import Generator

from experiments.contract.outcome import Outcome
from experiments.contract.study import Study
from experiments.studies.clustering._points import Clusters, of_points
from models.datasets import load
from models.regression.linear import least_squares, line


@dataclass
class ClusterData(Clusters, Study):
    """The points as observed and as a study gets them."""

    def rules(self) -> Iterator[str]:
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        observed = X if self.data is None else load(self.data).matrix
        x, t = observed.T
        residual = t - line(x) @ least_squares(line(x), t).w
        points = of_points(X)
        return Outcome(
            points=points,
            observed=of_points(observed),
            residual=points.axes[0].of(residual),  # of the second variable, given the first
        )
