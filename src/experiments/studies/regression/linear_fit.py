"""One data set and its least-squares fit: weights, errors, predictions (FCML 1.1-1.4, 2.7-2.9)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.datasets import load
from models.regression.linear import (
    least_squares,
    line,
    line_and_sine,
    line_by_averages,
    maximum_log_likelihood,
)
from models.types import Floats

_WEIGHTS = {"line": 2, "line_and_sine": 3}


@dataclass
class LinearFit(Study):
    """Fit a line, or a line and a sine wave, by least squares (FCML 1.1-1.4, 2.7-2.9)."""

    headline = {
        "w_0": "w[0]",
        "w_1": "w[1]",
        "noise_variance": "noise_variance",
        "log_likelihood": "log_likelihood",
    }

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    model: str = knob("line", "the functions that are weighted", choices=tuple(_WEIGHTS))
    a: float = knob(2660.0, "phase of the sine, sin((x - a) / b)")
    b: float = knob(4.3, "width of the sine, sin((x - a) / b)", above=0)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    printed_products: list[float] = knob([], "the column x t of a printed table", may_be_empty=True)
    printed_squares: list[float] = knob([], "the column x^2 of a printed table", may_be_empty=True)
    show: str = knob("fit", "what to draw", choices=("fit", "data"))
    show_from: float | None = knob(None, "the figure shows inputs from here on")

    def problems(self) -> Iterator[str]:
        x, _ = load(self.data).xt
        weights, inputs = _WEIGHTS[self.model], len(np.unique(x))
        if inputs < weights:
            yield f"study.data={self.data} has {inputs} inputs; {self.model} needs {weights}"
        for name in ("printed_products", "printed_squares"):
            cells = len(getattr(self, name))
            if cells not in (0, len(x)):
                yield f"study.{name} has {cells} cells; {self.data} has {len(x)} rows"
        if self.show_from is not None and self.show_from >= x.max():
            yield f"study.show_from={self.show_from:g} shows no data; allowed: < {x.max():g}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(self._design(x), t)
        point, weight = axis("point", len(x)), axis("weight", len(fit.w))
        low = x.min() if self.show_from is None else self.show_from
        grid = axis("x", np.linspace(low, max(x.max(), *self.predict_at, low), 400))
        asked: dict[str, Quantity] = {}
        if self.model == "line":
            asked["w_by_averages"] = weight.of(line_by_averages(x, t).w)
        if self.predict_at:
            at = axis("input", self.predict_at)
            asked["prediction"] = at.of(self._design(np.array(self.predict_at)) @ fit.w)
        for name in ("printed_products", "printed_squares"):
            if cells := getattr(self, name):
                asked[name] = point.of(cells)
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            errors=point.of(fit.residuals),
            w=weight.of(fit.w),
            covariance=over(fit.covariance, weight, axis("other", len(fit.w))),
            noise_variance=fit.sigma2,  # also the mean loss of FCML 1.3
            log_likelihood=float(maximum_log_likelihood(fit.sigma2, len(t))),
            curve=grid.of(self._design(grid.values) @ fit.w),
            **asked,
        )

    def _design(self, x: Floats) -> Floats:
        return line(x) if self.model == "line" else line_and_sine(x, self.a, self.b)
