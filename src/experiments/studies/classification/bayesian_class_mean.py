"""A class density with its mean integrated out, not estimated (FCML exercises 5.1, 5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import stacked
from bythebook.models.classification.gaussian_classifier import (
    log_expected_likelihood,
    mean_posterior,
)
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density
from bythebook.models.types import Floats


@dataclass
class BayesianClassMean(Study):
    """Posterior of a class mean and the expected likelihood of a new point (FCML 5.7)."""

    more_quantities = True
    quantities = {
        "posterior_moments": quantity(
            "posterior moments of the first coordinate of the class mean", "seen way moment"
        ),
        "expected_likelihood": quantity(
            "expected likelihood of a new point, in closed form", "seen"
        ),
        "monte_carlo": quantity("expected likelihood of a new point, from draws", "seen"),
        "standard_error": quantity("standard error of the mean over draws", "seen"),
        "likelihood": quantity("likelihood of a new point on a line", "seen mean x1"),
    }

    data: str = knob(
        "fcml-three-classes", "two attributes and the class of each point", dataset="classes"
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
        table = load(self.data).matrix
        X = table[table[:, 2] == self.of_class, :2]
        each = [self._averaged(X[:size], rng) for size in self.sizes]
        return Outcome(**stacked(axis("seen", self.sizes), each))

    def _averaged(self, X: Floats, rng: Generator) -> dict[str, Quantity]:
        """The mean of points X (N, 2), and the likelihood of a new one, averaged over the mean."""
        x, I, x1 = np.array(self.at), np.eye(2), axis("x1", np.linspace(-5.0, 5.0, 201))
        through = np.stack([x1.values, np.full(len(x1), x[1])], axis=-1)
        found, centre = mean_posterior(X, self.prior_variance), X.mean(0)
        m, v = found
        sampled = np.exp(log_density(m + np.sqrt(v) * rng.standard_normal((self.draws, 2)), x, I))
        curves = [log_expected_likelihood(through, found), log_density(through, centre, I)]
        # Prior times likelihood of the first coordinate, on a grid.
        mu = X[:, 0].mean() + np.linspace(-9, 9, 4001)
        log_p = -(mu**2) / (2 * self.prior_variance) - ((X[:, :1] - mu) ** 2).sum(0) / 2
        p = np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum()
        moments = [(m[0], v), (p @ mu, p @ (mu - p @ mu) ** 2)]
        way, moment = axis("way", ["formula", "grid"]), axis("moment", ["mean", "variance"])
        return {
            "posterior_moments": over(moments, way, moment),  # of the first coordinate
            "expected_likelihood": over(np.exp(log_expected_likelihood(x, found))),
            "monte_carlo": over(sampled.mean()),
            "standard_error": over(sampled.std() / np.sqrt(self.draws)),
            # KL(N(mean, I) || N(m, (1 + v) I)): estimated against averaged, in nats
            "divergence": over(np.log1p(v) + (1 + ((m - centre) ** 2).sum() / 2) / (1 + v) - 1),
            "likelihood": over(np.exp(curves), axis("mean", ["averaged", "estimated"]), x1),
        }
