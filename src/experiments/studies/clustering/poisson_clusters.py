"""EM for a mixture of Poisson distributions (FCML exercise 6.6)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.clustering.poisson_mixture import fit, log_joint, sample, start_at_counts
from bythebook.models.em import take


@dataclass
class PoissonClusters(Study):
    """EM for a mixture of Poisson distributions, on counts drawn from such a mixture (FCML 6.6)."""

    headline = {"smallest_rate": "min(rate)", "largest_rate": "max(rate)"}
    quantities = {
        "counts": quantity("counts", "point"),
        "weight": quantity("mixing coefficient of a component", "component"),
        "rate": quantity("rate of a component", "component"),
        "part": quantity("probability of a count and a component", "x component"),
    }
    axes = {
        "point": axis_of("count"),
        "component": axis_of("component, from the smallest rate"),
        "x": axis_of("count"),
    }

    weights: list[float] = knob([0.4, 0.6], "probabilities of the components", above=0, below=1)
    rates: list[float] = knob([2.0, 10.0], "rates of the components", above=0)
    n: int = knob(300, "counts", at_least=2, at_most=1_000_000)
    restarts: int = knob(20, "starts of each fit", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != len(self.rates) or abs(sum(self.weights) - 1) > 1e-9:
            yield "study.weights and study.rates; allowed: as many of one as of the other, sum 1"

    def run(self, rng: Generator) -> Outcome:
        K = len(self.rates)
        x, _ = sample(np.array(self.weights), np.array(self.rates), self.n, rng)
        em = fit(x, start_at_counts(x, K, rng, self.restarts))
        order = np.argsort(em.theta.rate[em.best])
        theta = type(em.theta)(*(field[:, order] for field in take(em.theta, [em.best])))
        value = np.arange(x.max() + 2)
        return outcome(
            {"point": self.n, "component": np.arange(1, K + 1), "x": value},
            counts=("point", x),
            weight=("component", theta.pi[0]),
            rate=("component", theta.rate[0]),
            part=("x component", np.exp(log_joint(value, theta)[0])),
        )
