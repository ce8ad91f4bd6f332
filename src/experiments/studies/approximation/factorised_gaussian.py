"""Factorised approximations of a correlated Gaussian, by either divergence (PRML 10.1.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.approximation import factorised
from bythebook.models.types import Floats

CYCLES = 400  # through free-form factors
LIMIT = 20_000  # cycles through the means


@dataclass
class FactorisedGaussian(Study):
    """Free-form factors of drawn Gaussians: variances, entropies and rare regions (PRML 10.1.2).

    The first Gaussian has unit variances and a correlation of 0.9; correlations and standard
    deviations of the others are drawn.
    """

    headline = {"too_compact": "share(entropy['q||p'] < entropy['p'])"}
    quantities = {
        "true_mean": quantity("mean of p", "repetition variable"),
        "covariance": quantity(
            "covariance of p and of its approximations", "density repetition variable other"
        ),
        "mean_error": quantity("largest error of a mean", "divergence repetition"),
        "variance_along": quantity(
            "variance along the longest and the shortest axis of p", "density direction repetition"
        ),
        "entropy": quantity(
            "entropy of p and of its approximations", "density repetition", unit="nats"
        ),
        "rare_mass": quantity(
            "probability of q outside three standard deviations of p", "divergence repetition"
        ),
        "cycles": quantity("cycles through the two means until convergence", "repetition start"),
    }
    axes = {
        "density": axis_of("p, or its approximation by a divergence"),
        "divergence": axis_of("divergence that is minimised"),
        "repetition": axis_of("Gaussian"),
        "direction": axis_of("axis of p"),
        "variable": axis_of("variable"),
        "other": axis_of("second variable of a covariance"),
        "start": axis_of("start"),
    }

    repetitions: int = knob(12, "Gaussians", at_least=1, at_most=200)
    restarts: int = knob(10, "starts of the means", at_least=1, at_most=1000)
    correlation: float = knob(0.99, "the largest that is drawn", above=0, at_most=0.99)

    def run(self, rng: Generator) -> Outcome:
        mean, S = self._gaussians(rng)
        on = factorised.grid(mean, S)
        found = {"q||p": factorised.exclusive(on, CYCLES), "p||q": factorised.inclusive(on)}
        moments = [factorised.moments(on, q) for q in found.values()]
        variance = np.array([v for _, v in moments])
        size, turn = np.linalg.eigh(S)
        along = [size] + [np.einsum("sij,si->sj", turn**2, v) for v in variance]
        logs = np.array([np.linalg.slogdet(S)[1], *np.log(variance).sum(-1)])
        starts = mean[:, None] + rng.normal(0, 5, (self.repetitions, self.restarts, 2))
        rare = [[_rare_mass(*pair) for pair in zip(S, v, strict=True)] for v in variance]
        return outcome(
            {
                "density": ["p", *found],
                "divergence": list(found),
                "repetition": self.repetitions,
                "direction": ["long", "short"],
                "variable": [1, 2],
                "other": [1, 2],
                "start": self.restarts,
            },
            true_mean=("repetition variable", mean),
            covariance=(
                "density repetition variable other",
                [S, *(v[:, :, None] * np.eye(2) for v in variance)],
            ),
            mean_error=("divergence repetition", [np.abs(m - mean).max(-1) for m, _ in moments]),
            variance_along=(
                "density direction repetition",
                [v.T[::-1] for v in along],
            ),
            entropy=("density repetition", 1 + np.log(2 * np.pi) + logs / 2),
            rare_mass=("divergence repetition", rare),
            cycles=("repetition start", factorised.cycle_means(mean, S, starts, LIMIT).cycles),
        )

    def _gaussians(self, rng: Generator) -> tuple[Floats, Floats]:
        """Means and covariances of the Gaussians."""
        mean = rng.normal(0, 2, (self.repetitions, 2))
        rho = rng.uniform(-self.correlation, self.correlation, self.repetitions)
        sd = rng.uniform(0.5, 2, (self.repetitions, 2))
        rho[0], sd[0] = min(0.9, self.correlation), 1.0
        shape = np.eye(2) + rho[:, None, None] * (1 - np.eye(2))
        return mean, sd[:, :, None] * sd[:, None] * shape


def _rare_mass(S: Floats, variance: Floats) -> float:
    """The part of independent Gaussians beyond three standard deviations of N(0, S)."""
    side = np.linspace(-7, 7, 281)
    z = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1) * np.sqrt(variance)
    weight = np.exp(-(side**2) / 2)
    weight = np.multiply.outer(weight, weight)
    square = np.einsum("...i,ij,...j->...", z, np.linalg.inv(S), z)
    return float((weight * (square > 9)).sum() / weight.sum())
