"""Gaussians cut at the origin: densities and means (FCML comment 7.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.probability.gaussian import log_density_1d
from models.probability.truncated_gaussian import density, mean, mean_as_printed
from models.regression.curves import quadrature


@dataclass
class TruncatedNormal(Study):
    """Integrate truncated Gaussians numerically; the formulas for their means beside them."""

    mu: float = knob(0.5, "mean of the Gaussian that is cut", at_least=-20, at_most=20)
    sd: float = knob(1.0, "its standard deviation", above=0, at_most=20)

    def run(self, rng: Generator) -> Outcome:
        # The third is the positive side with another standard deviation: the text allows any.
        cut = axis("cut", ["positive", "negative", "wide"])
        cases = [(self.mu, self.sd, 1), (self.mu, self.sd, -1), (self.mu, 2 * self.sd, 1)]
        integrals = np.array([_by_quadrature(*case) for case in cases])
        x = axis("x", np.linspace(self.mu - 4 * self.sd, self.mu + 4 * self.sd, 801))
        curves = [
            np.exp(log_density_1d(x.values, self.mu, self.sd**2)),
            *(density(x.values, *case) for case in cases[:2]),
        ]
        return Outcome(
            total=cut.of(integrals[:, 0]),
            expected_value=cut.of(integrals[:, 1]),
            formula=cut.of([mean(*case) for case in cases]),
            formula_as_printed=cut.of([mean_as_printed(*case) for case in cases]),
            density=over(curves, axis("curve", ["whole", "positive", "negative"]), x),
        )


def _by_quadrature(mu: float, sd: float, side: int) -> tuple[float, float]:
    """Integral and mean of the truncated density over the half line, cut far outside."""
    span = abs(mu) + 12 * sd
    rule = quadrature(0.0, span, 200)
    p = span * rule.weight * density(side * rule.x, mu, sd, side)
    return float(p.sum()), float(p @ (side * rule.x))
