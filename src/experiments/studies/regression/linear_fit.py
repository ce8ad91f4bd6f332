"""Lines fitted by least squares: errors, predictions, simulated data (FCML 1.1-2.9).

t_n = w_0 + w_1 x_n + w_2 sin((x_n - a) / b) + noise        the sine in one model only
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.regression import linear
from bythebook.models.regression.bias_variance import least_squares as fit_many
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats

_WEIGHTS = {"line": 2, "line_and_sine": 3}


@dataclass
class LinearFit(Study):
    """Fits of a line, or of a line and a sine wave, and data simulated from them (FCML 1.1-2.9)."""

    headline = {"w_0": "w[0]", "w_1": "w[1]", "noise_variance": "noise_variance"}
    quantities = {
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "fitted": quantity("fitted value of a point", "point"),
        "errors": quantity("target minus fitted value", "point"),
        "w": quantity("fitted weights", "weight", equation="FCML 2.33"),
        "covariance": quantity("covariance of the weights", "weight other", equation="FCML 2.45"),
        "noise_variance": quantity(
            "fitted noise variance, which is the mean squared error", equation="FCML 2.35"
        ),
        "curve": quantity("fitted curve", "x"),
        "prediction": quantity("prediction at a new input", "input"),
        "density": quantity("density of the target at the first new input", "target"),
        "likelihood": quantity("density of a target under the fit", "point", equation="FCML 2.27"),
        "p_value": quantity("p-value of a dependence of the errors on the input", "check"),
        "other_inputs": quantity("inputs of the other data", "other_point"),
        "other_targets": quantity("targets of the other data", "other_point"),
        "other_w": quantity("weights fitted to the other data", "weight"),
        "other_curve": quantity("line fitted to the other data", "x"),
        "crossing": quantity("input at which the two lines cross"),
        "generated": quantity("target generated from the fit", "generated_input"),
        "generated_from": quantity("fitted value it is generated from", "generated_input"),
        "generated_noise_variance": quantity("noise variance fitted to such data", "repetition"),
    }
    axes = {
        "check": axis_of("check of the residuals"),
        "generated_input": axis_of("input of generated data"),
        "input": axis_of("input of a prediction"),
        "other": axis_of("second weight of a covariance"),
        "other_point": axis_of("point of the other data"),
        "point": axis_of("input of the data"),
        "repetition": axis_of("generated data set"),
        "target": axis_of("target"),
        "weight": axis_of("weight"),
        "x": axis_of("input"),
    }

    data: str = knob("olympics-100m-men", "the data", dataset="regression")
    other_data: str | None = knob(None, "more data, with a separate line", dataset="regression")
    model: str = knob("line", "the functions that are weighted", choices=tuple(_WEIGHTS))
    a: float = knob(2660.0, "phase of the sine, sin((x - a) / b)")
    b: float = knob(4.3, "width of the sine, sin((x - a) / b)", above=0)
    noise: float = knob(0.05, "variance of the noise about the curve", at_least=0)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    generate_at: list[float] = knob(
        [], "inputs to generate at; those of the data if none", may_be_empty=True, distinct=True
    )
    repetitions: int = knob(0, "data sets to generate", at_least=0, at_most=100_000)

    def problems(self) -> Iterator[str]:
        weights = _WEIGHTS[self.model]
        for data in self.dataset_names():
            if (inputs := len(np.unique(load(data).xt[0]))) < weights:
                yield f"{data} has {inputs} different inputs; {self.model} needs {weights}"
        if self.model != "line" and self.other_data is not None:
            yield f"study.model={self.model}; allowed with study.other_data: line"
        if 0 < len(self.generate_at) <= weights:
            yield f"study.generate_at={self.generate_at}; allowed: none, or more than {weights}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(self._design(x), t)
        fitted = self._design(x) @ fit.w
        new = np.array(self.predict_at)
        found: dict[str, Any] = {}
        if self.noise > 0:
            found["likelihood"] = ("point", np.exp(log_density_1d(t, fitted, self.noise)))
        if len(x) > 3:
            checks = _p_values(x, fit.residuals)
            found["p_value"] = ("check", list(checks.values()))
        if len(new):
            found["prediction"] = ("input", self._design(new) @ fit.w)
        coords: dict[str, Any] = {
            "point": x,
            "weight": len(fit.w),
            "other": len(fit.w),
            "x": np.linspace(x.min(), max(x.max(), *self.predict_at, x.max()), 400),
            **({"check": list(checks)} if len(x) > 3 else {}),
            **({"input": new} if len(new) else {}),
        }
        for part in (
            self._density(fit.w),
            self._other(fit.w, coords),
            self._generated(fit.w, x, rng),
        ):
            coords |= part[0]
            found |= part[1]
        return outcome(
            coords,
            inputs=("point", x),
            targets=("point", t),
            fitted=("point", fitted),
            errors=("point", fit.residuals),
            w=("weight", fit.w),
            covariance=("weight other", fit.covariance),
            noise_variance=fit.sigma2,  # also the mean loss of FCML 1.3
            curve=("x", self._design(coords["x"]) @ fit.w),
            **found,
        )

    def _design(self, x: Floats) -> Floats:
        return line(x) if self.model == "line" else linear.line_and_sine(x, self.a, self.b)

    def _density(self, w: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        """The density p(t | x) at the first input to predict at."""
        if not (self.predict_at and self.noise > 0):
            return {}, {}
        mean = float((self._design(np.array(self.predict_at[:1])) @ w)[0])
        target = mean + np.linspace(-4, 4, 401) * np.sqrt(self.noise)
        density = np.exp(log_density_1d(target, mean, self.noise))
        return {"target": target}, {"density": ("target", density)}

    def _other(self, w: Floats, coords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The other data, their line, and where it meets the first; both are drawn up to there."""
        if self.other_data is None:
            return {}, {}
        x, t = load(self.other_data).xt
        other = least_squares(line(x), t).w
        crossing = float((other[0] - w[0]) / (w[1] - other[1]))
        grid = np.linspace(coords["x"][0], max(coords["x"][-1], crossing), 400)
        return {"other_point": x, "x": grid}, {
            "other_inputs": ("other_point", x),
            "other_targets": ("other_point", t),
            "other_w": ("weight", other),
            "other_curve": ("x", line(grid) @ other),
            "crossing": crossing,
        }

    def _generated(
        self, w: Floats, x: Floats, rng: Generator
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first data set from curve and noise, and the noise estimated from each data set."""
        if not self.repetitions:
            return {}, {}
        new = np.array(self.generate_at) if self.generate_at else x
        noise = rng.standard_normal((self.repetitions, len(new)))
        Phi = self._design(new)
        mean = Phi @ w
        generated = mean + np.sqrt(self.noise) * noise
        Phi[:, 1] = (new - new.mean()) / np.ptp(new)  # the same curves, and more digits
        return {"generated_input": new, "repetition": self.repetitions}, {
            "generated": ("generated_input", generated[0]),
            "generated_from": ("generated_input", mean),
            "generated_noise_variance": ("repetition", fit_many(Phi, generated).sigma2),
        }


def _p_values(x: Floats, errors: Floats) -> dict[str, float]:
    """P-values of a dependence of a line's errors on the input: trend, size and curvature.

    The correlation of the errors with the squared input, made orthogonal to a line, is that of
    the weight of an additional squared input. It has N - 3 degrees of freedom.
    """
    from scipy import stats  # its import takes as long as that of NumPy

    square = least_squares(line(x - x.mean()), (x - x.mean()) ** 2).residuals
    rho = np.corrcoef(square, errors)[0, 1]
    z = rho * np.sqrt((len(x) - 3) / (1 - rho**2))
    size = np.abs(errors)
    return {
        "direction by ranks": float(stats.spearmanr(x, errors).pvalue),
        "size by ranks": float(stats.spearmanr(x, size).pvalue),
        "size by values": float(stats.pearsonr(x, size).pvalue),
        "bend": float(2 * stats.t.sf(abs(z), len(x) - 3)),
    }
