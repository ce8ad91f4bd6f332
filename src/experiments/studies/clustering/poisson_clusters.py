"""EM for a mixture of Poisson distributions (FCML exercise 6.6)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.clustering.poisson_mixture import fit, log_joint, sample, start_at_counts
from bythebook.models.em import smallest_gain, take


@dataclass
class PoissonClusters(Study):
    """EM for a mixture of Poisson distributions, on counts drawn from such a mixture (FCML 6.6)."""

    headline = {"smallest_rate": "min(rate)", "largest_rate": "max(rate)"}
    more_quantities = True
    quantities = {
        "rate": quantity("rate of a component", "component"),
    }

    weights: list[float] = knob([0.4, 0.6], "probabilities of the components", above=0, below=1)
    rates: list[float] = knob([2.0, 10.0], "rates of the components", above=0)
    n: int = knob(300, "counts", at_least=2, at_most=1_000_000)
    k: list[int] = knob([1, 2, 3], "components of the fits", at_least=1, at_most=8, distinct=True)
    restarts: int = knob(20, "starts of each fit", at_least=1, at_most=1000)

    def problems(self) -> Iterator[str]:
        if len(self.weights) != len(self.rates) or abs(sum(self.weights) - 1) > 1e-9:
            yield "study.weights and study.rates; allowed: as many of one as of the other, sum 1"
        if len(self.weights) not in self.k:
            yield f"study.k={self.k} lacks the {len(self.weights)} components of the data"

    def run(self, rng: Generator) -> Outcome:
        x, _ = sample(np.array(self.weights), np.array(self.rates), self.n, rng)
        fits = {k: fit(x, start_at_counts(x, k, rng, self.restarts)) for k in sorted(self.k)}
        em = fits[len(self.rates)]
        order = np.argsort(em.theta.rate[em.best])
        theta = type(em.theta)(*(field[:, order] for field in take(em.theta, [em.best])))
        component, value = axis("component", range(1, len(order) + 1)), np.arange(x.max() + 2.0)
        k = axis("k", list(fits))
        return Outcome(
            counts=axis("point", self.n).of(x),
            weight=component.of(theta.pi[0]),
            rate=component.of(theta.rate[0]),
            part=over(np.exp(log_joint(value, theta)[0]), axis("count", value), component),
            log_likelihood=k.of([em.final[em.best] for em in fits.values()]),
            log_factorials=sum(math.log(math.factorial(int(count))) for count in x),
            smallest_gain=k.of([smallest_gain(em.objective) for em in fits.values()]),
        )
