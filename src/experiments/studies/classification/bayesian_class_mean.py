"""A class whose mean is averaged out instead of estimated (FCML exercises 5.1 and 5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from models.classification.gaussian_classifier import log_expected_likelihood, mean_posterior
from models.datasets import load
from models.probability.gaussian import log_density
from models.types import Floats


@dataclass
class BayesianClassMean(Study):
    """Posterior of a class mean and the expected likelihood of a new point (FCML 5.7)."""

    data: str = knob(
        "fcml-three-classes", "two attributes and the class of each point", dataset=True
    )
    of_class: int = knob(1, "the class", at_least=1)
    sizes: list[int] = knob([1, 3, 10, 30], "points seen, ascending", at_least=1, distinct=True)
    prior_variance: float = knob(10.0, "variance of the prior mean", above=0)
    at: list[float] = knob([2.0, 0.0], "the new point")
    draws: int = knob(20_000, "draws of the posterior", at_least=100, at_most=1_000_000)

    def problems(self) -> Iterator[str]:
        table = load(self.data).matrix
        most = int((table[:, -1] == self.of_class).sum())
        if table.shape[1] != 3 or max(self.sizes) > most:
            yield f"study.sizes={self.sizes}: class {self.of_class} has {most} points in the plane"
        if self.sizes != sorted(self.sizes):
            yield f"study.sizes={self.sizes}; allowed: ascending"
        if len(self.at) != 2:
            yield f"study.at={self.at}; allowed: two numbers"

    def run(self, rng: Generator) -> Outcome:
        table, x = load(self.data).matrix, np.array(self.at)
        X = table[table[:, 2] == self.of_class, :2]
        I, line = np.eye(2), np.linspace(-5.0, 5.0, 201)
        through = np.stack([line, np.full_like(line, x[1])], axis=-1)
        sets = [X[:size] for size in self.sizes]
        posteriors = [mean_posterior(points, self.prior_variance) for points in sets]
        sampled = [
            np.exp(log_density(m + np.sqrt(v) * rng.standard_normal((self.draws, 2)), x, I))
            for m, v in posteriors
        ]
        expected = [log_expected_likelihood(x, found) for found in posteriors]
        v = np.array([found.variance for found in posteriors])
        pairs = [(found, points.mean(0)) for found, points in zip(posteriors, sets, strict=True)]
        shift = np.array([((found.mean - centre) ** 2).sum() for found, centre in pairs])
        curves = [
            [log_expected_likelihood(through, found), log_density(through, centre, I)]
            for found, centre in pairs
        ]
        m = posteriors[-1].mean[0]
        moments = [[m, v[-1]], self._on_grid(sets[-1], m, v[-1])]
        seen, mean = axis("seen", self.sizes), axis("mean", ["averaged", "estimated"])
        way, moment = axis("way", ["formula", "grid"]), axis("moment", ["mean", "variance"])
        return Outcome(
            posterior_variance=seen.of(v),
            posterior_moments=over(moments, way, moment),
            expected_likelihood=seen.of(np.exp(expected)),
            monte_carlo=seen.of([values.mean() for values in sampled]),
            standard_error=seen.of([values.std() / np.sqrt(self.draws) for values in sampled]),
            # KL(N(mean, I) || N(m, (1 + v) I)): estimated against averaged, in nats
            divergence=seen.of(np.log1p(v) + (1 + shift / 2) / (1 + v) - 1),
            likelihood=over(np.exp(curves), seen, mean, axis("x1", line)),
        )

    def _on_grid(self, X: Floats, m: float, v: float) -> tuple[float, float]:
        """Moments of the first coordinate's mean by prior times likelihood on a grid."""
        mu = m + np.sqrt(v) * np.linspace(-9, 9, 2001)
        log_p = -(mu**2) / (2 * self.prior_variance) - ((X[:, :1] - mu) ** 2).sum(0) / 2
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        return p @ mu, p @ (mu - p @ mu) ** 2
