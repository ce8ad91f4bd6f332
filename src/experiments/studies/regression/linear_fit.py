"""One least-squares fit: weights, losses, noise variance, predictions (FCML 1.1-1.4, 2.7-2.9)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Table
from experiments.contract.study import Study, knob
from experiments.drawing.labels import axis_names
from models.datasets import load
from models.regression.linear import (
    LeastSquares,
    least_squares,
    line,
    line_and_sine,
    line_by_averages,
    maximum_log_likelihood,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_WEIGHTS = {"line": 2, "line_and_sine": 3}


@dataclass
class LinearFit(Study):
    """Fit a line, or a line and a sine wave, by least squares (FCML 1.1-1.4, 2.7-2.9)."""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    model: str = knob("line", "the functions that are weighted", choices=tuple(_WEIGHTS))
    a: float = knob(2660.0, "phase of the sine, sin((x - a) / b)")
    b: float = knob(4.3, "width of the sine, sin((x - a) / b)", above=0)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    rounded_weights: list[float] = knob(
        [], "weights as printed: predict with these as well", may_be_empty=True
    )
    show_from: float | None = knob(None, "the figure shows inputs from here on")

    def problems(self) -> "Iterator[str]":
        x, _ = load(self.data).xt
        weights, inputs = _WEIGHTS[self.model], len(np.unique(x))
        if inputs < weights:
            yield f"study.data={self.data} has {inputs} inputs; {self.model} needs {weights}"
        if len(self.rounded_weights) not in (0, weights):
            yield f"study.rounded_weights={self.rounded_weights}; allowed: none, or {weights}"
        if self.show_from is not None and self.show_from >= x.max():
            yield f"study.show_from={self.show_from:g} shows no data; allowed: < {x.max():g}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(self._design(x), t)
        low = x.min() if self.show_from is None else self.show_from
        grid = np.linspace(low, max(x.max(), *self.predict_at, low), 400)
        at = np.array(self.predict_at)
        predictions = self._design(at) @ fit.w
        metrics: dict[str, Scalar] = {f"w_{i}": w for i, w in enumerate(fit.w)}
        metrics |= {
            "total_loss": float(fit.residuals @ fit.residuals),
            "noise_variance": fit.sigma2,  # also the mean loss of FCML 1.3
            "log_likelihood": float(maximum_log_likelihood(fit.sigma2, len(t))),
        }
        metrics |= _spread_of_line(fit)
        if self.model == "line":
            averages = line_by_averages(x, t)
            metrics["w_1_numerator"] = averages.numerator
            metrics["w_1_denominator"] = averages.denominator
            metrics["averages_give_same_weights"] = np.allclose(
                averages.w, fit.w, rtol=1e-9, atol=0
            )
        metrics |= _named("prediction", self.predict_at, predictions)
        predicted: Table = {"input": self.predict_at, "prediction": predictions.tolist()}
        if self.rounded_weights:
            rounded = self._design(at) @ np.array(self.rounded_weights)
            metrics |= _named("rounded_prediction", self.predict_at, rounded)
            predicted["rounded_prediction"] = rounded.tolist()
        deviations = np.sqrt(np.diag(fit.covariance))
        weights: Table = {"w": fit.w.tolist(), "standard_deviation": deviations.tolist()}
        return Outcome(
            metrics,
            tables={"weights": weights} | ({"predictions": predicted} if self.predict_at else {}),
            arrays={"x": x, "t": t, "grid": grid, "curve": self._design(grid) @ fit.w},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        names, arrays = axis_names(self.data), outcome.arrays
        shown = arrays["x"] >= arrays["grid"][0]
        figure, ax = panels()
        ax.plot(arrays["grid"], arrays["curve"], label=self.model.replace("_", " "))
        ax.plot(arrays["x"][shown], arrays["t"][shown], "o", color="black", label="data")
        if self.predict_at:
            table = outcome.tables["predictions"]
            ax.plot(table["input"], table["prediction"], "D", color="C1", label="prediction")
        ax.set(xlabel=names.x, ylabel=names.t)
        ax.legend()
        return {"fit": figure}

    def _design(self, x: Floats) -> Floats:
        return line(x) if self.model == "line" else line_and_sine(x, self.a, self.b)


def _spread_of_line(fit: LeastSquares) -> dict[str, Scalar]:
    """How intercept and slope vary, and how they do so together."""
    (v0, c), (_, v1) = fit.covariance[:2, :2]
    return {
        "variance_w_0": v0,
        "variance_w_1": v1,
        "variance_ratio": v0 / v1,
        "covariance_w_0_w_1": c,
        "correlation_w_0_w_1": c / np.sqrt(v0 * v1),
    }


def _named(name: str, inputs: list[float], values: Floats) -> dict[str, Scalar]:
    return {f"{name}_{x:g}": value for x, value in zip(inputs, values, strict=True)}
