"""A Gaussian mixture whose means have a prior, the M step of which is an exercise (FCML 6.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, of_points
from models.clustering import gaussian_mixture, gaussian_mixture_map
from models.clustering.gaussian_mixture_map import MeanPrior
from models.clustering.gaussian_mixture_starts import start_at_points
from models.em import smallest_gain, take
from models.types import Floats


@dataclass
class MeanPriors(Clusters, Study):
    """A diagonal Gaussian mixture whose means have a Gaussian prior, from tight to loose."""

    headline = {"loosest_distance": "last(distance_from_prior)"}

    k: int = knob(3, "components", at_least=1, at_most=8)
    centre: float = knob(0.0, "mean m of the prior, in every variable")
    variances: list[float] = knob([1e-8, 0.01, 1.0, 100.0, 1e8], "variances of the prior", above=0)
    restarts: int = knob(20, "starts; the best is kept", at_least=1, at_most=1000)

    def rules(self) -> Iterator[str]:
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if sorted(set(self.variances)) != self.variances:
            yield f"study.variances={self.variances}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        start = start_at_points(X, self.k, rng, self.restarts)
        ml = gaussian_mixture.fit(X, start, covariance="diagonal", min_eigenvalue=1e-3)
        best = take(ml.theta, [ml.best])
        priors = [MeanPrior(self.centre, s2) for s2 in self.variances]
        fits = [gaussian_mixture_map.fit(X, start, prior) for prior in priors]
        means = np.stack([_by_height(em.theta.mu[em.best]) for em in fits])
        distance = np.sqrt(np.square(means - self.centre).sum(axis=2).mean(axis=1))
        # One more step from the maximum of the likelihood: a loose prior leaves it where it is.
        q, _ = gaussian_mixture.e_step(X, best)
        loose = gaussian_mixture_map.m_step(best, q, priors[-1])
        variance, points = axis("variance", self.variances), of_points(X)
        component, variable = axis("component", self.k), points.axes[1]
        return Outcome(
            points=points,
            means=over(means, variance, component, variable),
            means_without_prior=over(_by_height(best.mu[0]), component, variable),
            distance_from_prior=variance.of(distance),
            smallest_gain=variance.of([smallest_gain(em.objective) for em in fits]),
            step_from_maximum=float(np.abs(loose.mu - best.mu).max()),
        )


def _by_height(mu: Floats) -> Floats:
    return mu[np.argsort(mu[:, 1])]
