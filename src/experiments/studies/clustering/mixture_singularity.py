"""The likelihood of a Gaussian mixture has no maximum: collapse, and its remedies (PRML 9.2.1).

Also PRML 9.3 and 10.2 (priors), Notes 3.3.2, Ghahramani 3 (MAP).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters
from bythebook.models.clustering import bernoulli_mixture
from bythebook.models.clustering.gaussian_mixture import (
    fit,
    log_density,
    log_prior,
    smallest_eigenvalue,
)
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points, start_from_labels
from bythebook.models.clustering.kmeans import kmeans, kmeans_plus_plus
from bythebook.models.clustering.singularity import (
    METHODS,
    fit_by,
    shrinking,
    shrinking_bernoulli,
    weak_prior,
)
from bythebook.models.em import smallest_gain
from bythebook.models.types import Floats


@dataclass
class MixtureSingularity(Clusters, Study):
    """Likelihood of a component that shrinks onto a point; collapses of EM with each remedy."""

    headline = {"collapsed": "sum(collapsed)"}
    more_quantities = True
    quantities = {
        "collapsed": quantity("number of starts from which a component collapses", "method k"),
    }

    decades: int = knob(16, "shrink from width 1 by so many powers of ten", at_least=4, at_most=140)
    weight: float = knob(0.5, "weight of the component that shrinks", above=0, below=1)
    point: int = knob(0, "the data point it shrinks onto", at_least=0)
    k: list[int] = knob([], "components to fit", at_least=1, distinct=True, may_be_empty=True)
    methods: list[str] = knob(
        list(METHODS), "plain EM, resets, MAP, variational Bayes", choices=METHODS, distinct=True
    )
    restarts: int = knob(60, "starts for each K, the same for all methods", at_least=1)
    collapsed_below: float = knob(1e-3, "smallest variance of a sound component", above=0)
    tol: float = knob(1e-5, "stop when the objective gains no more", above=0)
    iterations: int = knob(300, "iterations at most", at_least=1, at_most=100_000)

    def rules(self) -> Iterator[str]:
        N = self.size[0]
        if self.point >= N:
            yield f"study.point={self.point}: there are {N} points, counted from 0"
        if max(self.k, default=0) > N:
            yield f"study.k={self.k}: there are {N} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        remedies = self._remedies(X, rng) if self.k else {}
        labels = kmeans(X, kmeans_plus_plus(X, 2, rng, 20)).labels
        regular = fit(X, start_from_labels(X, labels, 2)).final
        decade = axis("decade", self.decades + 1)
        onto = X, self.point, self.weight, np.power(10.0, -decade.values)
        mixture, single = shrinking(*onto)
        L, alone = (log_density(X, theta).sum(axis=1) for theta in (mixture, single))
        binary = bernoulli_mixture.log_density(*shrinking_bernoulli(*onto))
        flat = weak_prior(X, 2)  # in the weights
        return Outcome(
            regular_maximum=float(np.max(regular[~np.isnan(regular)], initial=-np.inf)),
            log_likelihood=decade.of(L),
            log_posterior=decade.of(L + log_prior(mixture, flat)),
            single_log_likelihood=decade.of(alone),
            # At width 1: at smaller widths other terms of the prior hide a difference in rounding.
            dirichlet_part=float(
                log_prior(mixture, flat._replace(alpha=3.0))[0] - log_prior(mixture, flat)[0]
            ),
            log_height=decade.of(log_density(X[[self.point]], single)[:, 0]),  # ln N(x | x, s^2 I)
            largest_bernoulli_log_density=decade.of(binary.max(axis=1)),
            **remedies,
        )

    def _remedies(self, X: Floats, rng: Generator) -> dict[str, Quantity]:
        """Number of starts of each method that end in a collapse, for each K."""
        ks, least = sorted(self.k), self.collapsed_below
        limits = {"min_eigenvalue": least, "tol": self.tol, "max_iter": self.iterations}
        found = np.empty((3, len(self.methods), len(ks)))
        for j, k in enumerate(ks):
            start = start_at_points(X, k, rng, self.restarts)
            for i, method in enumerate(self.methods):
                Sigma, objective = fit_by(method, X, start, rng, **limits)  # type: ignore[arg-type]
                values = smallest_eigenvalue(Sigma)
                lost = ~(values >= least).all(axis=1)
                found[:, i, j] = lost.sum(), np.nanmin(values), smallest_gain(objective)
        axes = axis("method", self.methods), axis("k", ks)
        return {
            "collapsed": over(found[0].astype(int), *axes),
            "smallest_variance": over(found[1], *axes),
            "smallest_gain": over(found[2], *axes),
        }
