"""Variance of the predictions of polynomials of several orders (FCML 2.9.3 and 2.10.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import CurveOrData
from bythebook.models.regression import predictive_variance as fits

_SETS = 200  # of functions at least, whose ranges are recorded


@dataclass
class PredictiveVariance(CurveOrData, Study):
    """Error bars of predictions, and functions drawn from the fit (FCML 2.9.3, 2.10.1)."""

    headline = {"least_sure_order": "argmax(mean(mean(variance, over='x'), over='repetition'))"}
    quantities = {
        "variance": quantity("variance of the prediction", "repetition order x"),
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "prediction": quantity("mean of the prediction, first data set", "order x"),
        "noise_variance": quantity("most likely noise variance", "repetition order"),
        "functions": quantity("functions drawn from the fit", "order function x"),
        "function_range": quantity("range of some functions drawn from the fit", "order set x"),
        "intercept_range": quantity("range of their intercepts", "order set"),
        "slope_range": quantity("range of their slopes", "order set"),
        "truth": quantity("true curve", "x"),
        "gap_variance": quantity(
            "mean variance of the prediction in the gap", "points repetition order"
        ),
    }
    axes = {
        "function": axis_of("function drawn from the fit"),
        "order": axis_of("polynomial order"),
        "point": axis_of("point of the data"),
        "points": axis_of("whether points in the gap are kept"),
        "repetition": axis_of("data set"),
        "set": axis_of("set of drawn functions"),
        "x": axis_of("input"),
    }

    orders: list[int] = knob([1, 3], "polynomial orders", at_least=0, at_most=12, distinct=True)
    gap: list[float] = knob([], "points between these inputs are removed", may_be_empty=True)
    repetitions: int = knob(300, "data sets to draw", at_least=1, at_most=10_000)
    functions: int = knob(20, "functions to draw from a fit", at_least=2, at_most=100)
    bars: str = knob("variance", "half the length of a bar", choices=("variance", "deviation"))
    show: str = knob("bars", "what to draw", choices=("bars", "functions"))
    zoom: list[float] = knob([], "functions are shown between these inputs", may_be_empty=True)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for name, pair in (("gap", self.gap), ("zoom", self.zoom)):
            if len(pair) not in (0, 2) or (pair and pair[0] >= pair[1]):
                yield f"study.{name}={pair}; allowed: none, or two numbers, low < high"
        if self.size <= 2 * max(self.orders):
            yield f"study.orders={self.orders}; allowed: < {self.size / 2:g}, half the points"

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sets(rng, self.repetitions)
        everything = np.ones(x.shape, dtype=bool)
        keep = (x < self.gap[0]) | (x > self.gap[1]) if self.gap else everything
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
        repetition, order = axis("repetition", len(x)), axis("order", self.orders)
        point, grid = axis("point", int(keep[0].sum())), axis("x", places)
        drawing = axis("set", len(x) * sets)
        extra: dict[str, Quantity] = {}
        if self.curve != "unknown":
            extra["truth"] = grid.of(self.truth(places))
        if self.gap:
            inside = (places >= self.gap[0]) & (places <= self.gap[1])
            whole = fits.predict(x, t, everything, top, places[inside]).variance[:, self.orders]
            in_gap = [variance[..., inside].mean(-1), whole.mean(-1)]
            extra["gap_variance"] = over(in_gap, axis("points", ["kept", "all"]), repetition, order)
        return Outcome(
            inputs=point.of(x[0][keep[0]]),
            targets=point.of(t[0][keep[0]]),
            prediction=over(found.mean[0][self.orders, :-1], order, grid),  # first data set
            variance=over(variance, repetition, order, grid),
            noise_variance=over(found.sigma2[:, self.orders], repetition, order),
            functions=over(drawn[:, 0, :few, :-1], order, axis("function", few), grid),
            function_range=over(ranges[..., :-1], order, drawing, grid),
            intercept_range=over(ranges[..., -1], order, drawing),
            slope_range=over(steepness[..., 0], order, drawing),
            **extra,
        )
