"""Popular distributions: their curves, totals, moments and modes (FCML 2.2.8, 2.3, 2.5, 7.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.probability import truncated_gaussian
from bythebook.models.probability.distributions import DISCRETE, FAMILIES, Law, tabulate

PARAMETERS = {
    "binomial": ("N", "q"),
    "poisson": ("λ",),
    "uniform": ("a", "b"),
    "beta": ("α", "β"),
    "gaussian": ("μ", "σ²"),
    "truncated": ("μ", "σ", "the side that is kept"),  # 1, -1, or 0 for both
}
_ABOVE_ZERO = {"poisson": (0,), "gaussian": (1,), "truncated": (1,)}  # by place


@dataclass
class Distributions(Study):
    """Probabilities or densities of one family, for one or several parameters (FCML 2.3, 2.5)."""

    quantities = {
        "total": quantity("sum or integral of all probabilities", "curve"),
        "expected_value": quantity("expected value", "curve"),
        "expected_square": quantity("expected square", "curve"),
        "probability": quantity("probability of a value", "curve y"),
        "place": quantity("point at which the log density is computed", "curve node"),
        "log_density": quantity("log of the probability or density", "curve node"),
        "asymmetry": quantity(
            "largest difference of the log density from its mirror image", "curve"
        ),
        "width_at_half_height": quantity("width of the density at half of its height", "curve"),
        "density": quantity("density of the truncated Gaussian", "curve x"),
        "normal_integral": quantity(
            "integral of the normal density up to mu / sigma", "curve form"
        ),
        "mass_above": quantity("probability of the Gaussian above the truncation", "curve"),
        "formula": quantity("mean by the formula", "curve"),
        "formula_as_printed": quantity("mean by the formula as printed", "curve"),
    }
    axes = {
        "curve": axis_of("parameters of the family"),
        "form": axis_of("form of the formula"),
        "node": axis_of("node of the sum or integral"),
        "x": axis_of("value"),
        "y": axis_of("value"),
    }

    family: str = knob("binomial", "the family", choices=FAMILIES)
    parameters: list[list[float]] = knob([[50.0, 0.7]], "the parameters of each curve")

    def problems(self) -> Iterator[str]:
        names = PARAMETERS.get(self.family)
        for row in self.parameters:
            given = f"study.parameters: {row} for {self.family}"
            if self.family == "categorical":
                if not row or min(row) < 0 or abs(sum(row) - 1) > 1e-9:
                    yield f"{given}; allowed: probabilities that sum to one"
            elif names is not None and len(row) != len(names):
                yield f"{given}; allowed: {', '.join(names)}"
            elif any(row[place] <= 0 for place in _ABOVE_ZERO.get(self.family, ())):
                yield f"{given}; allowed: > 0"
            elif self.family == "beta" and min(row) < 0.5:
                yield f"{given}; allowed: >= 0.5, for the quadrature's sake"
            elif self.family == "uniform" and row[0] >= row[1]:
                yield f"{given}; allowed: a < b"
            elif self.family == "truncated" and row[2] not in (-1, 0, 1):
                yield f"{given}; allowed: a side of 1 or -1, or 0 for the whole"
            elif self.family == "binomial" and not (row[0] >= 1 and 0 <= row[1] <= 1):
                yield f"{given}; allowed: N >= 1, 0 <= q <= 1"

    def run(self, rng: Generator) -> Outcome:
        laws = [tabulate(self.family, row) for row in self.parameters]
        curve = axis("curve", np.arange(1, len(laws) + 1))
        mean = np.array([law.weight @ law.x for law in laws])
        shapes = self._discrete(laws) if self.family in DISCRETE else self._continuous(laws)
        if self.family == "truncated":
            shapes |= self._truncated()
        return Outcome(
            total=curve.of([law.weight.sum() for law in laws]),
            expected_value=curve.of(mean),
            expected_square=curve.of([law.weight @ law.x**2 for law in laws]),
            **{name: over(values, curve, *axes) for name, (values, *axes) in shapes.items()},
        )

    def _discrete(self, laws: list[Law]) -> dict[str, tuple[Any, ...]]:
        """Probabilities over the outcomes of all curves; zero for impossible outcomes."""
        y = axis("y", np.unique(np.concatenate([law.x for law in laws])).astype(int))
        p = np.zeros((len(laws), len(y)))
        for row, law in zip(p, laws, strict=True):
            row[: len(law.x)] = law.weight
        return {"probability": (p, y)}

    def _continuous(self, laws: list[Law]) -> dict[str, tuple[Any, ...]]:
        """Log densities at nodes that lie symmetrically about the middle of the support."""
        node = axis("node", len(laws[0].x))
        halves = [law.x[law.log_p >= law.log_p.max() - np.log(2)] for law in laws]
        return {
            "place": ([law.x for law in laws], node),
            "log_density": ([law.log_p for law in laws], node),
            "asymmetry": ([np.abs(law.log_p - law.log_p[::-1]).max() for law in laws],),
            "width_at_half_height": ([np.ptp(half) for half in halves],),
        }

    def _truncated(self) -> dict[str, tuple[Any, ...]]:
        """Densities over one grid, about the first; means by the formula and as printed."""
        rows, (mu, sd, _) = self.parameters, self.parameters[0]
        x = axis("x", np.linspace(mu - 4 * sd, mu + 4 * sd, 801))
        form = axis("form", ["printed", "corrected"])
        integrals = [truncated_gaussian.normal_integral(row[0] / row[1]) for row in rows]
        return {
            "density": ([truncated_gaussian.density(x.values, *row) for row in rows], x),
            "normal_integral": (integrals, form),  # up to mu / sigma
            "mass_above": ([truncated_gaussian.mass_above(*row[:2]) for row in rows],),
            "formula": ([truncated_gaussian.mean(*row) for row in rows],),
            "formula_as_printed": ([truncated_gaussian.mean_as_printed(*row) for row in rows],),
        }
