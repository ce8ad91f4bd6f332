"""Laplace approximations of densities: the Gaussian at the mode and its errors (FCML 4.4).

The Gaussian is the second-order expansion of the log density about its mode. It is compared with
exact values of the density, in closed form or by quadrature.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import targets
from bythebook.models.approximation.laplace import approximate
from bythebook.models.classification.logistic import Posterior
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats

# The targets, and the names of their parameters; "coin" is a beta posterior, "logistic" the
# posterior of two weights.
TARGETS = {"gamma": ("α", "β"), "coin": ("α", "β", "y", "N"), "logistic": ("σ²",)}
DISTANCES = [0.2, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 3.0]  # from the mode, in standard deviations


@dataclass
class LocalApproximation(Study):
    """Laplace approximations of densities and their errors (FCML 4.4)."""

    headline = {"largest_total_variation": "max(total_variation)"}
    quantities = {
        "total_variation": quantity(
            "total variation between a density and its Laplace approximation", "case"
        ),
        "mass_outside": quantity("probability of the Gaussian where the density is zero", "case"),
        "mode": quantity("mode, which is the mean of the Gaussian", "case variable"),
        "log_error": quantity(
            "error of the log density, up to that at the mode", "case direction distance"
        ),
        "place": quantity("places of the curves", "case variable step"),
        "log_density": quantity(
            "log density, exact and of the Gaussian",
            "case method step | case method second_step step",
        ),
    }
    axes = {
        "case": axis_of("parameters of the density"),
        "variable": axis_of("variable"),
        "direction": axis_of("direction from the mode", unit="degrees"),
        "distance": axis_of("distance from the mode in standard deviations"),
        "method": axis_of("exact or by Laplace"),
        "step": axis_of("place of the first variable"),
        "second_step": axis_of("place of the second variable"),
    }

    target: str = knob("gamma", "the density", choices=tuple(TARGETS))
    parameters: list[list[float]] = knob(
        [[20.0, 0.5], [2.0, 100.0]],
        "of each density: " + "; ".join(f"{k} {', '.join(v)}" for k, v in TARGETS.items()),
    )
    data: str | None = knob(None, "logistic: two attributes and t = 0 or 1", dataset="classes")

    def problems(self) -> Iterator[str]:
        names = TARGETS[self.target]
        for row in self.parameters:
            if len(row) != len(names):
                yield f"study.parameters: {self.target} needs {', '.join(names)}"
            elif self.target == "coin" and not 0 <= row[2] <= row[3]:
                yield f"study.parameters: y = {row[2]:g}; allowed: 0 to N = {row[3]:g}"
            elif min(self._shape(row)) <= 1:
                yield f"study.parameters: {row} has no mode inside; allowed: above 1, with the data"
            elif row[0] <= 0:
                yield f"study.parameters: {row}; allowed: {names[0]} > 0"
        if (self.target == "logistic") != (self.data is not None):
            yield f"study.data={self.data}: it belongs to study.target=logistic"
        elif self.data is not None:
            matrix = load(self.data).matrix
            if matrix.shape[1] != 3 or not set(matrix[:, 2]) <= {0.0, 1.0}:
                yield f"study.data={self.data}; allowed: two attributes and a class, 0 or 1"

    def _shape(self, row: list[float]) -> list[float]:
        """The parameters that must exceed 1 for a mode."""
        if self.target == "coin":
            return [row[0] + row[2], row[1] + row[3] - row[2]]
        return row[:1] if self.target == "gamma" else [np.inf]

    def _target(self, row: list[float]) -> targets.Target:
        if self.target == "gamma":
            return targets.gamma(*row)
        if self.target == "coin":
            return targets.beta(*self._shape(row))
        matrix = load(str(self.data)).matrix
        return targets.regression(Posterior(matrix[:, :2], matrix[:, 2], row[0]))

    def run(self, rng: Generator) -> Outcome:
        densities = [self._target(row) for row in self.parameters]
        found = [approximate(p.mode, p.hessian, float(p.log_g(p.mode))) for p in densities]
        pairs = list(zip(densities, found, strict=True))
        variations = [targets.total_variation(p, g.mean, g.covariance) for p, g in pairs]
        near = [targets.about_mode(p, g.covariance, np.array(DISTANCES)) for p, g in pairs]
        places = [_window(p, np.sqrt(np.diag(g.covariance))) for p, g in pairs]
        logs = []
        for (p, g), place in zip(pairs, places, strict=True):
            at = np.stack(np.meshgrid(*place, indexing="ij"), axis=-1)
            with np.errstate(divide="ignore"):  # log of zero at the ends of the support
                curves = [p.log_g(at) - p.log_evidence, log_density(at, g.mean, g.covariance)]
            logs.append(np.swapaxes(curves, 1, -1))
        plane = "" if np.ndim(logs[0]) == 2 else "second_step "
        steps = np.shape(places[0])[1]
        coords = {
            "case": [", ".join(f"{value:g}" for value in row) for row in self.parameters],
            "variable": np.arange(1, len(places[0]) + 1),
            "direction": near[0].direction,
            "distance": DISTANCES,
            "method": ["exact", "laplace"],
            "step": steps,
        }
        return outcome(
            coords | ({"second_step": steps} if plane else {}),
            total_variation=("case", [v for v, _ in variations]),
            mass_outside=("case", [outside for _, outside in variations]),
            mode=("case variable", [g.mean for g in found]),
            log_error=("case direction distance", [errors.log_error for errors in near]),
            place=("case variable step", places),
            log_density=(f"case method {plane}step", logs),
        )


def _window(p: targets.Target, sd: Floats) -> list[Floats]:
    """Points at which to evaluate a density: about the mode, within the support."""
    wide, points = (4.5, 301) if len(sd) == 1 else (4.0, 101)
    low = np.maximum(p.support[:, 0], p.mode - wide * sd)
    high = np.minimum(p.support[:, 1], p.mode + 6 * sd)
    return [np.linspace(*ends, points) for ends in zip(low, high, strict=True)]
