"""Gaussians cut at the origin: densities and means (FCML comment 7.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.probability.gaussian import log_density_1d
from models.probability.truncated_gaussian import density, mean, mean_as_printed
from models.regression.curves import quadrature
from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDES = {"positive": 1, "negative": -1}


@dataclass
class TruncatedNormal(Study):
    """Integrate truncated Gaussians numerically; compare the means with the formulas."""

    mu: float = knob(0.5, "mean of the Gaussian that is cut", at_least=-20, at_most=20)
    sd: float = knob(1.0, "its standard deviation", above=0, at_most=20)

    def run(self, rng: Generator) -> Outcome:
        x = np.linspace(self.mu - 4 * self.sd, self.mu + 4 * self.sd, 801)
        whole = np.exp(log_density_1d(x, self.mu, self.sd**2))
        curves: dict[str, Floats] = {"x": x, "whole": whole}
        metrics: dict[str, Scalar] = {}
        # The third is the positive side with another standard deviation: the text allows any.
        cases = {name: (self.sd, side) for name, side in SIDES.items()} | {"wide": (2 * self.sd, 1)}
        for name, (sd, side) in cases.items():
            integral, exact = _by_quadrature(self.mu, sd, side)
            formula, printed = mean(self.mu, sd, side), mean_as_printed(self.mu, sd, side)
            metrics |= {
                f"integral_{name}": integral,
                f"mean_{name}": exact,
                f"formula_right_{name}": bool(np.isclose(formula, exact, rtol=1e-7)),
                f"printed_formula_{name}": float(printed),
                f"printed_formula_right_{name}": bool(np.isclose(printed, exact, rtol=1e-7)),
                f"integrates_to_one_{name}": bool(np.isclose(integral, 1, rtol=1e-9)),
            }
        for name, side in SIDES.items():
            curves[name] = density(x, self.mu, self.sd, side)
            inside = side * x > 0
            metrics[f"higher_{name}"] = bool((curves[name][inside] > whole[inside]).all())
        return Outcome(metrics, arrays=curves)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        x = outcome.arrays["x"]
        names = {"whole": "not truncated", "positive": "positive", "negative": "negative"}
        for i, (name, label) in enumerate(names.items()):
            ax.plot(x, outcome.arrays[name], color=f"C{i}", linestyle="--" if not i else "-")
            if name in SIDES:
                value = outcome.metrics[f"mean_{name}"]
                ax.axvline(value, color=f"C{i}", linewidth=1, linestyle=":")
                label = f"{label}, mean {value:.3f} (dotted)"
            ax.lines[-1 - (name in SIDES)].set_label(label)
        ax.set(xlabel="x", ylabel="Density p(x)", ylim=(0, None))
        ax.legend()
        return {"densities": figure}


def _by_quadrature(mu: float, sd: float, side: int) -> tuple[float, float]:
    """Integral and mean of the truncated density over the half line, cut far outside."""
    span = abs(mu) + 12 * sd
    rule = quadrature(0.0, span, 200)
    p = span * rule.weight * density(side * rule.x, mu, sd, side)
    return float(p.sum()), float(p @ (side * rule.x))
