"""Approximations near a point: Taylor expansion of a function, Gaussian for a density.

Laplace's Gaussian is the second-order expansion of a log density about its mode. It is compared
with exact values of the density, in closed form or by quadrature (FCML 4.4).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import targets
from bythebook.models.approximation.bounds import Function
from bythebook.models.approximation.laplace import approximate
from bythebook.models.approximation.taylor import expansions
from bythebook.models.classification.drawn_regression import draw
from bythebook.models.classification.logistic import Posterior
from bythebook.models.datasets import load
from bythebook.models.probability.coin import likelihood_totals
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats

# The targets, and the names of their parameters: functions from low to high; densities, of which
# "coin" is a beta posterior; posteriors of two weights, whose data are `study.data` or drawn with
# weights w.
TARGETS = {
    "exp": ("low", "high"),
    "sigmoid": ("low", "high"),
    "gamma": ("α", "β"),
    "coin": ("α", "β", "y", "N"),
    "logistic": ("σ²",),
    "linear": ("σ²", "N", "w_1", "w_2"),
}
FUNCTIONS: dict[str, Function] = {"exp": np.exp, "sigmoid": expit}
DISTANCES = [0.2, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 3.0]  # from the mode, in standard deviations


@dataclass
class LocalApproximation(Study):
    """Taylor expansions and Laplace approximations, and their errors (FCML 4.4)."""

    headline = {"largest_total_variation": "max(total_variation)"}
    more_quantities = True
    quantities = {
        "total_variation": quantity(
            "total variation between a density and its Laplace approximation", "case"
        ),
    }

    target: str = knob("gamma", "the function or density", choices=tuple(TARGETS))
    parameters: list[list[float]] = knob(
        [[20.0, 0.5], [2.0, 100.0]],
        "of each density: " + "; ".join(f"{k} {', '.join(v)}" for k, v in TARGETS.items()),
    )
    data: str | None = knob(None, "logistic: two attributes and t = 0 or 1", dataset="classes")
    orders: list[int] = knob(
        [],
        "orders of expansions of exp about 0",
        at_least=0,
        at_most=20,
        distinct=True,
        may_be_empty=True,
    )

    def problems(self) -> Iterator[str]:
        names = TARGETS[self.target]
        for row in self.parameters:
            if len(row) != len(names):
                yield f"study.parameters: {self.target} needs {', '.join(names)}"
            elif self.target in FUNCTIONS:
                if len(self.parameters) > 1 or not -500 <= row[0] < row[1] <= 500:
                    yield f"study.parameters: {row}; allowed: one row, low < high, to 500"
            elif self.target == "coin" and not 0 <= row[2] <= row[3]:
                yield f"study.parameters: y = {row[2]:g}; allowed: 0 to N = {row[3]:g}"
            elif min(self._shape(row)) <= 1:
                yield f"study.parameters: {row} has no mode inside; allowed: above 1, with the data"
            elif row[0] <= 0 or (self.target == "linear" and row[1] < 2):
                yield f"study.parameters: {row}; allowed: {names[0]} > 0, N >= 2"
        if self.orders and self.target != "exp":
            yield f"study.orders={self.orders}: they belong to study.target=exp"
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

    def _target(self, row: list[float], rng: Generator) -> targets.Target:
        if self.target == "gamma":
            return targets.gamma(*row)
        if self.target == "coin":
            return targets.beta(*self._shape(row))
        if self.data is None:
            return targets.regression(draw(np.array(row[2:]), int(row[1]), row[0], "real", rng))
        matrix = load(self.data).matrix
        return targets.regression(Posterior(matrix[:, :2], matrix[:, 2], row[0]))

    def run(self, rng: Generator) -> Outcome:
        if self.target in FUNCTIONS:
            return self._expanded(*self.parameters[0])
        case = axis("case", [", ".join(f"{value:g}" for value in row) for row in self.parameters])
        each = [_approximated(self._target(row, rng)) for row in self.parameters]
        found = {
            name: over([of[name].values for of in each], case, *quantity.axes)
            for name, quantity in each[0].items()
        }
        if self.target == "coin":  # at the share of heads that was seen
            totals = [likelihood_totals(int(N), y / max(N, 1)) for *_, y, N in self.parameters]
            coefficient = axis("coefficient", ["printed", "corrected"])
            found["likelihood_total"] = over(totals, case, coefficient)
        return Outcome(**found)

    def _expanded(self, low: float, high: float) -> Outcome:
        """A function, near and far from zero, and its expansions about zero."""
        f, far, order = FUNCTIONS[self.target], axis("far", [-500.0, 500.0]), self.orders
        w = axis("w", np.linspace(low, high, 401))
        found = {"function": w.of(f(w.values)), "far_function": far.of(f(far.values))}
        if order:
            curves = expansions(max(order), w.values)[order]
            found["expansion"] = over(curves, axis("order", order), w)
        return Outcome(**found)


def _approximated(p: targets.Target) -> dict[str, Quantity]:
    """The Gaussian approximation of p, the density p, and the errors."""
    mean, S, log_evidence = approximate(p.mode, p.hessian, float(p.log_g(p.mode)))
    total_variation, mass_outside = targets.total_variation(p, mean, S)
    near = targets.about_mode(p, S, np.array(DISTANCES))
    grids = _window(p, np.sqrt(np.diag(S)))
    at = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    with np.errstate(divide="ignore"):  # log of zero at the ends of the support
        curves = [p.log_g(at) - p.log_evidence, log_density(at, mean, S)]
    way, direction = axis("way", ["exact", "laplace"]), axis("direction", near.direction)
    i, j = (axis(name, np.arange(1, len(grids) + 1)) for name in ("variable", "other"))
    steps = [axis(f"step_{d}", len(grids[0])) for d in i.values]
    return {
        "centre": over([p.mean, mean], way, i),
        "covariance": over([p.covariance, S], way, i, j),
        "log_evidence": way.of([p.log_evidence, log_evidence]),
        "total_variation": over(total_variation),
        "mass_outside": over(mass_outside),
        "log_error": over(near.log_error, direction, axis("distance", DISTANCES)),
        "search_gap": over(near.search_gap),
        "curvature_gap": over(near.curvature_gap),
        "place": over(grids, i, steps[0]),
        "log_density": over(curves, way, *steps),
    }


def _window(p: targets.Target, sd: Floats) -> list[Floats]:
    """Points at which to evaluate a density: about the mode, within the support."""
    wide, points = (4.5, 301) if len(sd) == 1 else (4.0, 101)
    low = np.maximum(p.support[:, 0], p.mode - wide * sd)
    high = np.minimum(p.support[:, 1], p.mode + 6 * sd)
    return [np.linspace(*ends, points) for ends in zip(low, high, strict=True)]
