"""Lines, given or fitted by least squares: errors, predictions, simulated data (FCML 1.1-2.9)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.regression import linear
from bythebook.models.regression.bias_variance import least_squares as fit_many
from bythebook.models.regression.error_checks import p_values
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats

SHOWN = ("fit", "data", "errors", "density", "generated", "lines")
_WEIGHTS = {"line": 2, "line_and_sine": 3}


@dataclass
class LinearFit(Study):
    """Fits of a line, or of a line and a sine wave, and data simulated from them (FCML 1.1-2.9)."""

    headline = {"w_0": "w[0]", "w_1": "w[1]", "noise_variance": "noise_variance"}
    quantities = {
        "w": quantity("fitted weights", "weight | line weight"),
        "noise_variance": quantity("fitted noise variance, which is the mean squared error"),
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "fitted": quantity("fitted value of a point", "point"),
        "errors": quantity("target minus fitted value", "point"),
        "covariance": quantity("covariance of the fitted weights", "weight other"),
        "log_likelihood": quantity("log likelihood at the fitted weights and noise", unit="nats"),
        "curve": quantity("fitted curve", "x"),
        "prediction": quantity("prediction at a new input", "input | line input"),
        "density": quantity("density of the target at the first new input", "target"),
        "w_by_averages": quantity("weights of the line by averages of products", "weight"),
        "likelihood": quantity(
            "density of each target under the fit", "point", equation="FCML 2.7"
        ),
        "p_value": quantity("p-value of a check of the residuals", "check"),
        "other_inputs": quantity("inputs of the other data", "other_point"),
        "other_targets": quantity("targets of the other data", "other_point"),
        "other_w": quantity("weights fitted to the other data", "weight"),
        "crossing": quantity("input at which the two lines cross"),
        "generated": quantity("target generated from the fit", "generated_input"),
        "generated_from": quantity(
            "fitted value that a target is generated from", "generated_input"
        ),
        "generated_noise_variance": quantity(
            "noise variance fitted to generated data", "repetition"
        ),
        "printed_products": quantity("printed column of the products of input and target", "point"),
        "printed_squares": quantity("printed column of the squared inputs", "point"),
    }
    axes = {
        "check": axis_of("check of the residuals"),
        "generated_input": axis_of("input of generated data"),
        "input": axis_of("input of a prediction"),
        "line": axis_of("given line"),
        "other": axis_of("second weight of a covariance"),
        "other_point": axis_of("point of the other data"),
        "point": axis_of("point of the data"),
        "repetition": axis_of("generated data set"),
        "target": axis_of("target"),
        "weight": axis_of("weight"),
        "x": axis_of("input"),
    }

    data: str | None = knob(
        "olympics-100m-men", "the data; none: lines by weights", dataset="regression"
    )
    other_data: str | None = knob(None, "more data, with a separate line", dataset="regression")
    intercepts: list[float] = knob([0.0, 5.0, 10.0], "without data: w0 of each line")
    gradients: list[float] = knob([0.0, 2.0, 4.0], "without data: w1 of each line")
    model: str = knob("line", "the functions that are weighted", choices=tuple(_WEIGHTS))
    a: float = knob(2660.0, "phase of the sine, sin((x - a) / b)")
    b: float = knob(4.3, "width of the sine, sin((x - a) / b)", above=0)
    noise: float = knob(0.05, "variance of the noise about the curve", at_least=0)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    generate_at: list[float] = knob(
        [], "inputs to generate at; those of the data if none", may_be_empty=True, distinct=True
    )
    repetitions: int = knob(0, "data sets to generate", at_least=0, at_most=100_000)
    printed_products: list[float] = knob([], "the column x t of a printed table", may_be_empty=True)
    printed_squares: list[float] = knob([], "the column x^2 of a printed table", may_be_empty=True)
    show: str = knob("fit", "what to draw; density: at the first of predict_at", choices=SHOWN)
    show_from: float | None = knob(None, "the figure shows inputs from here on")

    def problems(self) -> Iterator[str]:
        if self.data is None:
            if len(self.intercepts) != len(self.gradients):
                yield f"study.gradients={self.gradients}; allowed: {len(self.intercepts)} numbers"
            if self.show != "lines" or not self.predict_at:
                yield "without study.data: study.show=lines, and in study.predict_at their inputs"
            return
        x, _ = load(self.data).xt
        weights = _WEIGHTS[self.model]
        for data in self.dataset_names():
            if (inputs := len(np.unique(load(data).xt[0]))) < weights:
                yield f"{data} has {inputs} different inputs; {self.model} needs {weights}"
        for name in ("printed_products", "printed_squares"):
            cells = len(getattr(self, name))
            if cells not in (0, len(x)):
                yield f"study.{name} has {cells} cells; {self.data} has {len(x)} rows"
        if self.show == "density" and not (self.noise and {*self.predict_at[:1]} & {*x}):
            yield f"study.show=density needs noise, and in predict_at an input of {self.data}"
        if self.show == "generated" and not self.repetitions:
            yield "study.show=generated needs study.repetitions"
        if self.show == "lines" and self.other_data is None:
            yield "study.show=lines needs study.other_data, or no data"
        if self.model != "line" and self.other_data is not None:
            yield f"study.model={self.model}; allowed with study.other_data: line"
        if 0 < len(self.generate_at) <= weights:
            yield f"study.generate_at={self.generate_at}; allowed: none, or more than {weights}"
        if self.show_from is not None and self.show_from >= x.max():
            yield f"study.show_from={self.show_from:g} shows no data; allowed: < {x.max():g}"

    def run(self, rng: Generator) -> Outcome:
        if self.data is None:
            return self._given()
        x, t = load(self.data).xt
        fit = least_squares(self._design(x), t)
        fitted = self._design(x) @ fit.w
        point, weight = axis("point", len(x)), axis("weight", len(fit.w))
        low = x.min() if self.show_from is None else self.show_from
        grid = axis("x", np.linspace(low, max(x.max(), *self.predict_at, low), 400))
        extra = self._predictions(fit.w) | self._generated(fit.w, x, rng) | self._other(fit.w)
        if self.model == "line":
            extra["w_by_averages"] = weight.of(linear.line_by_averages(x, t).w)
        if self.noise > 0:
            log_p = log_density_1d(t, fitted, self.noise)
            extra["likelihood"] = point.of(np.exp(log_p))  # of each target, FCML 2.7
        if len(x) > 3:
            checks = p_values(x, t, fit.residuals)
            extra["p_value"] = axis("check", list(checks)).of(list(checks.values()))
        for name in ("printed_products", "printed_squares"):
            if cells := getattr(self, name):
                extra[name] = point.of(cells)
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            fitted=point.of(fitted),
            errors=point.of(fit.residuals),
            w=weight.of(fit.w),
            covariance=over(fit.covariance, weight, axis("other", len(fit.w))),
            noise_variance=fit.sigma2,  # also the mean loss of FCML 1.3
            log_likelihood=float(linear.maximum_log_likelihood(fit.sigma2, len(t))),
            curve=grid.of(self._design(grid.values) @ fit.w),
            **extra,
        )

    def _design(self, x: Floats) -> Floats:
        return line(x) if self.model == "line" else linear.line_and_sine(x, self.a, self.b)

    def _given(self) -> Outcome:
        """Lines by their weights alone, at the inputs to predict at."""
        w = np.array([self.intercepts, self.gradients]).T
        name, at = axis("line", len(w)), axis("input", self.predict_at)
        prediction = over(w @ line(at.values).T, name, at)
        return Outcome(w=over(w, name, axis("weight", 2)), prediction=prediction)

    def _other(self, w: Floats) -> dict[str, Quantity]:
        """The other data, their line, and where it meets the first."""
        if self.other_data is None:
            return {}
        x, t = load(self.other_data).xt
        other, point = least_squares(line(x), t).w, axis("other_point", len(x))
        return {
            "other_inputs": point.of(x),
            "other_targets": point.of(t),
            "other_w": axis("weight", 2).of(other),
            "crossing": Quantity((other[0] - w[0]) / (w[1] - other[1])),
        }

    def _predictions(self, w: Floats) -> dict[str, Quantity]:
        """The curve at the inputs `predict_at`, and the density p(t | x) at the first of them."""
        if not self.predict_at:
            return {}
        mean = self._design(np.array(self.predict_at)) @ w
        found = {"prediction": axis("input", self.predict_at).of(mean)}
        if self.noise > 0:
            target = axis("target", mean[0] + np.linspace(-4, 4, 401) * np.sqrt(self.noise))
            found["density"] = target.of(np.exp(log_density_1d(target.values, mean[0], self.noise)))
        return found

    def _generated(self, w: Floats, x: Floats, rng: Generator) -> dict[str, Quantity]:
        """The first data set from curve and noise, and the noise estimated from each data set."""
        if not self.repetitions:
            return {}
        new = np.array(self.generate_at) if self.generate_at else x
        noise = rng.standard_normal((self.repetitions, len(new)))
        Phi = self._design(new)
        mean = Phi @ w
        generated = mean + np.sqrt(self.noise) * noise
        Phi[:, 1] = (new - new.mean()) / np.ptp(new)  # the same curves, and more digits
        place = axis("generated_input", new)
        return {
            "generated": place.of(generated[0]),
            "generated_from": place.of(mean),
            "generated_noise_variance": axis("repetition", self.repetitions).of(
                fit_many(Phi, generated).sigma2
            ),
        }
