"""Popular distributions of one variable, by SciPy (FCML 2.3, 2.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import stats

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob

NAMES = {
    "binomial": ("N", "q"),
    "poisson": ("λ",),
    "uniform": ("a", "b"),
    "beta": ("α", "β"),
    "gaussian": ("μ", "σ²"),
}
DISCRETE = ("binomial", "poisson")
TAIL = 1e-9  # the probability outside the range of values that is recorded


@dataclass
class Distributions(Study):
    """Probabilities or densities of one family, for one or several parameters (FCML 2.3, 2.5)."""

    quantities = {
        "expected_value": quantity("expected value", "curve"),
        "deviation": quantity("standard deviation", "curve"),
        "probability": quantity("probability of a value", "curve y"),
        "density": quantity("density at a value", "curve x"),
    }
    axes = {
        "curve": axis_of("parameters of the family"),
        "x": axis_of("value"),
        "y": axis_of("value"),
    }

    family: str = knob("binomial", "the family", choices=tuple(NAMES))
    parameters: list[list[float]] = knob([[50.0, 0.7]], "the parameters of each curve")

    def problems(self) -> Iterator[str]:
        names = NAMES.get(self.family, ())
        for row in self.parameters:
            if len(row) != len(names):
                yield f"study.parameters: {row} for {self.family}; allowed: {', '.join(names)}"
            elif not np.isfinite(_law(self.family, row).mean()):  # NaN if SciPy refuses them
                yield f"study.parameters: {row} are not parameters of {self.family}"

    def run(self, rng: Generator) -> Outcome:
        laws = [_law(self.family, row) for row in self.parameters]
        ends = np.array([law.ppf([TAIL, 1 - TAIL]) for law in laws])
        low, high = ends[:, 0].min(), ends[:, 1].max()
        discrete = self.family in DISCRETE
        values = np.arange(low, high + 1) if discrete else np.linspace(low, high, 2001)
        heights = [law.pmf(values) if discrete else law.pdf(values) for law in laws]
        name, along = ("probability", "y") if discrete else ("density", "x")
        labels = [", ".join(f"{value:g}" for value in row) for row in self.parameters]
        return outcome(
            {"curve": labels, along: values.astype(int) if discrete else values},
            expected_value=("curve", [law.mean() for law in laws]),
            deviation=("curve", [law.std() for law in laws]),
            **{name: (f"curve {along}", heights)},
        )


def _law(family: str, row: list[float]) -> Any:
    """SciPy's distribution, with the parameters in the order of the text."""
    with np.errstate(invalid="ignore"):
        if family == "uniform":
            return stats.uniform(row[0], row[1] - row[0])  # FCML 2.24
        if family == "gaussian":
            return stats.norm(row[0], np.sqrt(row[1]))  # FCML 2.27
        return {"binomial": stats.binom, "poisson": stats.poisson, "beta": stats.beta}[family](*row)
