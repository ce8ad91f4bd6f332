"""Laplace and BIC as data grow, against the exact evidence (Ghahramani 11.1, 11.2; Notes 1.5)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import stats

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from models.approximation import asymptotic
from models.approximation.asymptotic import MODELS, Found

WAYS = ["exact", "laplace", "bic", "bic of map"]
PLACES = [0.1, 0.3, 0.5, 0.7, 0.9]  # of a coin's probability, where the posterior is looked at


@dataclass
class AsymptoticEvidence(Study):
    """Log evidence of models as the number of points grows, and what approximations assume.

    Every size has data sets of its own.
    """

    headline = {"bic_error": "max(mean(abs(log_evidence[:, 'bic'] - log_evidence[:, 'exact'])))"}

    models: list[str] = knob(["coin"], "what data are drawn from", choices=tuple(MODELS))
    points: list[int] = knob([10, 100], "points of a data set", at_least=2, at_most=1_000_000)
    sets: int = knob(30, "data sets of each size", at_least=1, at_most=1000)

    def run(self, rng: Generator) -> Outcome:
        kind, size = axis("model", self.models), axis("points", sorted(self.points))
        place, way = axis("set", self.sets), axis("way", WAYS)
        made = [
            [[MODELS[name](int(N), rng) for _ in range(self.sets)] for N in size.values]
            for name in self.models
        ]
        told = [
            [[_told(f, int(N)) for f in row] for N, row in zip(size.values, rows, strict=True)]
            for rows in made
        ]
        table = np.moveaxis(np.array(told), -1, 0)  # what, model, points, set
        found = {
            name: over(values, kind, size, place)
            for name, values in zip(
                ("total_variation", "log_prior", "least_eigenvalue", "determinant_rest"),
                table[len(WAYS) :],
                strict=True,
            )
        }
        evidence = np.moveaxis(table[: len(WAYS)], 0, 1)
        return Outcome(
            log_evidence=over(evidence, kind, way, size, place),
            **found,
            **self._stationary(rng),
            **self._identities(rng),
        )

    def _stationary(self, rng: Generator) -> dict[str, Quantity]:
        """The point a = b = 0 of a product, with means of either size."""
        if "product" not in self.models:
            return {}
        size, place = axis("points", sorted(self.points)), axis("set", self.sets)
        means = rng.standard_normal((len(size), self.sets)) / np.array(size.values)[:, None] ** 0.75
        ends = np.array(
            [
                [asymptotic.at_nought(int(N), m) for m in row]
                for N, row in zip(size.values, means, strict=True)
            ]
        )
        return {
            "least_curvature": over(ends[..., 0], size, place),
            "rise_nearby": over(ends[..., 1], size, place),
        }

    def _identities(self, rng: Generator) -> dict[str, Quantity]:
        """Bayes' rule at any parameter, scaled determinants, and the mass of (1.49) and (1.53)."""
        size, at = axis("points", sorted(self.points)), axis("place", PLACES)
        r = np.linspace(0, 1, 20_001)[1:-1]
        gaps = []
        for N in size.values:
            heads = int(np.clip(round(asymptotic.HEADS * N), 1, N - 1))
            log = heads * np.log(r) + (N - heads) * np.log1p(-r)
            evidence = log.max() + np.log(np.exp(log - log.max()).sum() * (r[1] - r[0]))
            theta = np.array(PLACES)
            joint = heads * np.log(theta) + (N - heads) * np.log1p(-theta)
            gaps.append(joint - stats.beta(heads + 1, N - heads + 1).logpdf(theta) - evidence)
        scaled = []
        for d in range(1, 7):
            P = np.cov(rng.standard_normal((d, d + 3))).reshape(d, d)
            scaled.append(np.linalg.slogdet(3 * P)[1] - d * np.log(3) - np.linalg.slogdet(P)[1])
        z = np.linspace(-12, 12, 1201)
        one = np.exp(-1.25 * z**2).sum() * (z[1] - z[0])  # A = 2.5
        first = one * 2.5**0.5
        plane = axis("dimension", [1, 2])
        two = first**2 / (2 * np.pi)  # A = 2.5 I
        mass = [[first / (2 * np.pi), two], [first / (2 * np.pi) ** 0.5, two]]
        return {
            "identity_gap": over(gaps, size, at),
            "scaled_determinant_gap": axis("rows", range(1, 7)).of(scaled),
            "gaussian_mass": over(mass, axis("formula", ["printed", "corrected"]), plane),
        }


def _told(f: Found, N: int) -> list[float]:
    """Log evidence in all ways, and what else is kept of a data set."""
    least, half = np.linalg.eigvalsh(f.A)[0] / N, np.linalg.slogdet(f.A)[1] / 2
    rest = half - len(f.A) / 2 * np.log(N)
    evidence = [f.exact, f.laplace, f.bic(N), f.bic(N, largest=False)]
    return [*evidence, f.variation, f.log_prior, float(least), float(rest)]
