"""Points to be clustered: the knobs that many studies share, and a study of the points."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.linear import least_squares, line
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class Clusters:
    """Knobs of the data: a data set, or round clusters drawn about given centres. A base."""

    data: str | None = knob("old-faithful", "the points to cluster", dataset=True)
    standardise: bool = knob(True, "rescale each variable to mean 0 and standard deviation 1")
    centres: list[list[float]] = knob(
        [], "centres of round clusters that are drawn in place of data", may_be_empty=True
    )
    spread: float = knob(0.5, "standard deviation of a drawn cluster", above=0)
    n_each: int = knob(60, "points in each drawn cluster", at_least=1, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        if (self.data is None) == (not self.centres):
            yield f"study.data={self.data}, study.centres={self.centres}; allowed: exactly one"
            return
        found = list(place_problems("centres", self.centres, len((self.centres or [[]])[0])))
        yield from found or self.rules()

    def rules(self) -> "Iterator[str]":
        """What a study asks of data that make sense: a line for each rule broken."""
        yield from ()

    @property
    def size(self) -> tuple[int, int]:
        """Points and variables."""
        if self.data is None:
            return self.n_each * len(self.centres), len(self.centres[0])
        rows, columns = load(self.data).matrix.shape
        return rows, columns

    def points(self, rng: Generator) -> Floats:
        """The data, shape (N, D)."""
        if self.data is None:
            where = np.repeat(np.array(self.centres), self.n_each, axis=0)
            X = where + self.spread * rng.standard_normal(where.shape)
        else:
            X = load(self.data).matrix
        return standardised(X) if self.standardise else X

    def labels(self) -> tuple[str, str]:
        """The names of the first two axes, with units."""
        if self.data is None or "eruption" not in load(self.data).columns:
            return "$x_1$", "$x_2$"
        names = axis_names(self.data)
        if not self.standardise:
            return names.x, names.t
        first, second = (name.partition(" (")[0] for name in (names.x, names.t))
        return f"{first} (standardised)", f"{second} (standardised)"


def standardised(X: Floats) -> Floats:
    """Each column with mean 0 and standard deviation 1 (over N, not N - 1)."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def place_problems(name: str, places: list[list[float]], dimension: int) -> "Iterator[str]":
    """What is wrong with a list of points that should have `dimension` coordinates each."""
    if any(len(place) != dimension for place in places):
        yield f"study.{name}={places}: each entry needs {dimension} numbers"


@dataclass
class ClusterData(Clusters, Study):
    """The points before any clustering: how many, what scale, how one variable helps another."""

    def rules(self) -> "Iterator[str]":
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        raw = X if self.data is None else load(self.data).matrix
        x, t = raw.T
        design = line(x)
        residual = t - design @ least_squares(design, t).w
        metrics: dict[str, Scalar] = {
            "n_points": len(X),
            "n_variables": X.shape[1],
            "largest_mean": float(np.abs(X.mean(axis=0)).max()),
            "largest_sd_error": float(np.abs(X.std(axis=0) - 1).max()),
            "centred": bool(np.abs(X.mean(axis=0)).max() < 1e-12),
            "unit_sd": bool(np.abs(X.std(axis=0) - 1).max() < 1e-12),
            "second_sd": float(t.std()),
            "second_sd_given_first": float(residual.std()),
            "second_range": float(np.ptp(t)),
            "first_helps_predict_second": bool(residual.std() < t.std()),
        }
        for i, column in enumerate(raw.T, start=1):
            metrics |= {f"mean_{i}": float(column.mean()), f"sd_{i}": float(column.std())}
        return Outcome(metrics, arrays={"X": X, "raw": raw})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        if not self.standardise:
            figure, ax = panels()
            ax.plot(*outcome.arrays["X"].T, "o", markersize=4, alpha=0.7)
            ax.set(xlabel=self.labels()[0], ylabel=self.labels()[1])
            return {"data": figure}
        figure, axes = panels(1, 2)
        for ax, points, rescaled in zip(axes, ("raw", "X"), (False, True), strict=True):
            ax.plot(*outcome.arrays[points].T, "o", markersize=3, alpha=0.7)
            names = type(self)(**{**vars(self), "standardise": rescaled}).labels()
            title = "After rescaling" if rescaled else "As observed"
            ax.set(xlabel=names[0], ylabel=names[1], title=title)
        return {"data": figure}
