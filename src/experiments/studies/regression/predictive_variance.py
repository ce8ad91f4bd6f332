"""Variance of the predictions of polynomials of several orders (FCML 2.9.3 and 2.10.1).

var(t_new) = sigma^2 x_new^T (X^T X)^-1 x_new,    w ~ N(w_hat, sigma^2 (X^T X)^-1)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CurveOrData
from bythebook.models.regression import predictive_variance as fits
from bythebook.models.types import Floats

_SETS = 200  # of functions at least, whose ranges are recorded


@dataclass
class PredictiveVariance(CurveOrData, Study):
    """Error bars of predictions, and functions drawn from the fit (FCML 2.9.3, 2.10.1)."""

    headline = {"least_sure_order": "argmax(mean(mean(variance, over='x'), over='repetition'))"}
    quantities = {
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "truth": quantity("true curve", "x"),
        "prediction": quantity(
            "mean of the prediction, first data set", "order x", equation="FCML 2.50"
        ),
        "variance": quantity(
            "variance of the prediction", "repetition order x", equation="FCML 2.51"
        ),
        "edge_excess": quantity(
            "variance at either edge minus the largest between edge and middle; smaller of both",
            "repetition order",
        ),
        "noise_variance": quantity("most likely noise variance", "repetition order"),
        "functions": quantity(
            "functions drawn from the fit to the first data set",
            "order function x",
            equation="FCML 2.48",
        ),
        "function_range": quantity("range of a set of drawn functions", "order set x"),
        "intercept_range": quantity("range of their values at zero", "order set"),
        "slope_range": quantity("range of their slopes from end to end", "order set"),
        "gap_variance": quantity(
            "mean variance of the prediction in the gap", "points repetition order"
        ),
    }
    axes = {
        "function": axis_of("function drawn from the fit"),
        "order": axis_of("polynomial order"),
        "point": axis_of("point of the data"),
        "points": axis_of("whether points in the gap are removed (kept: the others) or not"),
        "repetition": axis_of("data set"),
        "set": axis_of("set of drawn functions"),
        "x": axis_of("input"),
    }

    orders: list[int] = knob([1, 3], "polynomial orders", at_least=0, at_most=12, distinct=True)
    gap: list[float] = knob([], "points between these inputs are removed", may_be_empty=True)
    repetitions: int = knob(300, "data sets to draw", at_least=1, at_most=10_000)
    functions: int = knob(20, "functions to draw from a fit", at_least=2, at_most=100)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if len(self.gap) not in (0, 2) or (self.gap and self.gap[0] >= self.gap[1]):
            yield f"study.gap={self.gap}; allowed: none, or two numbers, low < high"
        if self.size <= 2 * max(self.orders):
            yield f"study.orders={self.orders}; allowed: < {self.size / 2:g}, half the points"

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        keep = everything = np.ones(x.shape, dtype=bool)
        if self.gap:
            keep = (x < self.gap[0]) | (x > self.gap[1])
        places = np.linspace(x.min(), x.max(), 101) if self.data is not None else self.grid(101)
        top, ends = max(self.orders), np.append(places, 0.0)  # the origin in addition to the grid
        found = fits.predict(x, t, keep, top, ends)
        variance = found.variance[:, self.orders, :-1]
        few, sets = self.functions, -(-_SETS // len(x))  # of each data set
        drawn = np.stack([fits.sample_functions(found, k, few * sets, rng) for k in self.orders])
        slopes = (drawn[..., -2:-1] - drawn[..., :1]) / (places[-1] - places[0])  # end to end
        ranges, steepness = (
            fits.ranges(part, few).reshape(len(self.orders), len(x) * sets, -1)
            for part in (drawn, slopes)
        )
        coords: dict[str, Any] = {"points": ["kept", "all"]} if self.gap else {}
        extra: dict[str, Any] = {}
        if self.curve != "unknown":
            extra["truth"] = ("x", self.truth(places))
        if self.gap:
            within = (places >= self.gap[0]) & (places <= self.gap[1])
            whole = fits.predict(x, t, everything, top, places[within]).variance[:, self.orders]
            in_gap = [variance[..., within].mean(-1), whole.mean(-1)]
            extra["gap_variance"] = ("points repetition order", in_gap)
        return outcome(
            coords
            | {"order": self.orders, "repetition": len(x), "x": places, "function": few}
            | {"point": int(keep[0].sum()), "set": len(x) * sets},
            inputs=("point", x[0][keep[0]]),
            targets=("point", t[0][keep[0]]),
            prediction=("order x", found.mean[0][self.orders, :-1]),
            variance=("repetition order x", variance),
            edge_excess=("repetition order", _edge_excess(variance)),
            noise_variance=("repetition order", found.sigma2[:, self.orders]),
            functions=("order function x", drawn[:, 0, :few, :-1]),
            function_range=("order set x", ranges[..., :-1]),
            intercept_range=("order set", ranges[..., -1]),
            slope_range=("order set", steepness[..., 0]),
            **extra,
        )


def _edge_excess(variance: Floats) -> Floats:
    """How much an edge's variance exceeds the largest up to the middle; the smaller of both."""
    middle = variance.shape[-1] // 2
    left = variance[..., 0] - variance[..., 1 : middle + 1].max(-1)
    right = variance[..., -1] - variance[..., middle:-1].max(-1)
    return np.asarray(np.minimum(left, right))
