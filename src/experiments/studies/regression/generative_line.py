"""A line as a generator: its errors, data drawn from it, and how likely those seen are (FCML 2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis
from experiments.contract.study import Study, knob
from models.datasets import load
from models.probability.gaussian import log_density_1d
from models.regression.bias_variance import least_squares as fit_many
from models.regression.error_checks import correlation, curvature, rank_correlation
from models.regression.linear import least_squares, line

SHOWN = ("errors", "generated", "density")


@dataclass
class GenerativeLine(Study):
    """Could the fitted line, with Gaussian noise, have made the data? (FCML 2.1, 2.6 and 2.7)"""

    headline = {"noise_variance": "noise_variance", "errors_above": "count(errors > 0)"}

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    noise_variance: float = knob(0.05, "variance of the noise that is added", at_least=0)
    inputs: list[float] = knob(
        [], "inputs to generate at; those of the data if none", may_be_empty=True, distinct=True
    )
    repetitions: int = knob(1000, "data sets to generate", at_least=1, at_most=100_000)
    density_at: float = knob(1980.0, "an input of the data whose target's density is drawn")
    show: str = knob("errors", "what to draw", choices=SHOWN)

    def problems(self) -> Iterator[str]:
        x, _ = load(self.data).xt
        if len(np.unique(x)) < 4:
            yield f"study.data={self.data} has fewer than four inputs; the checks need four"
        if self.show == "density" and self.density_at not in x:
            yield f"study.density_at={self.density_at:g} is no input of {self.data}"
        if self.show == "density" and self.noise_variance == 0:
            yield "study.noise_variance=0 has no density; allowed with show=density: > 0"
        if 0 < len(self.inputs) < 3:
            yield f"study.inputs={self.inputs}; allowed: none, or three and more"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        fit = least_squares(line(x), t)
        size = np.abs(fit.residuals)
        checks = {  # p values
            "direction by ranks": rank_correlation(x, fit.residuals),
            "size by ranks": rank_correlation(x, size),
            "size by values": correlation(x, size),
            "bend": curvature(x, t),
        }
        new = np.array(self.inputs) if self.inputs else x
        mean = line(new) @ fit.w
        noise = rng.standard_normal((self.repetitions, len(new)))
        generated = mean + np.sqrt(self.noise_variance) * noise
        again = fit_many(line((new - new.mean()) / np.ptp(new)), generated).sigma2
        point, place = axis("point", len(x)), axis("input", new)
        likely: dict[str, Quantity] = {}
        if self.noise_variance > 0:
            there = line(np.array([self.density_at]))[0] @ fit.w
            target = axis("target", there + np.linspace(-4, 4, 401) * np.sqrt(self.noise_variance))
            log_p = log_density_1d(target.values, there, self.noise_variance)
            likely["density"] = target.of(np.exp(log_p))  # p(t | x) at one input
            log_p = log_density_1d(t, line(x) @ fit.w, self.noise_variance)
            likely["likelihood"] = point.of(np.exp(log_p))  # FCML 2.7: of each target
        return Outcome(
            inputs=point.of(x),
            targets=point.of(t),
            line=point.of(line(x) @ fit.w),
            errors=point.of(fit.residuals),
            p_value=axis("check", list(checks)).of([check.p_value for check in checks.values()]),
            noise_variance=fit.sigma2,
            generated_from=place.of(mean),
            generated=place.of(generated[0]),  # the first of the data sets
            generated_noise_variance=axis("repetition", self.repetitions).of(again),
            **likely,
        )
