"""The likelihood of a Gaussian mixture has no maximum: collapse, and its remedies (PRML 9.2.1).

Also PRML 9.3 and 10.2 (priors), Notes 3.3.2, Ghahramani 3 (MAP).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters
from bythebook.models.clustering.gaussian_mixture import log_density, log_prior, smallest_eigenvalue
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.singularity import METHODS, fit_by, shrinking, weak_prior
from bythebook.models.em import smallest_gain
from bythebook.models.types import Floats


@dataclass
class MixtureSingularity(Clusters, Study):
    """Likelihood of a component that shrinks onto a point; collapses of EM with each remedy."""

    headline = {"collapsed": "sum(collapsed)"}
    quantities = {
        "log_likelihood": quantity(
            "log likelihood of two components, of which one shrinks", "decade", unit="nats"
        ),
        "log_posterior": quantity(
            "log likelihood of two components and log density of a prior", "decade", unit="nats"
        ),
        "single_log_likelihood": quantity(
            "log likelihood of the component that shrinks, alone", "decade", unit="nats"
        ),
        "collapsed": quantity("number of starts from which a component collapses", "method k"),
        "smallest_gain": quantity(
            "smallest gain of the objective in an iteration, relative to the largest", "method k"
        ),
    }
    axes = {
        "decade": axis_of("powers of ten by which the component has shrunk"),
        "method": axis_of("plain EM or a remedy"),
        "k": axis_of("number of components"),
    }

    decades: int = knob(16, "shrink from width 1 by so many powers of ten", at_least=4, at_most=140)
    weight: float = knob(0.5, "weight of the component that shrinks", above=0, below=1)
    point: int = knob(0, "the data point it shrinks onto", at_least=0)
    k: list[int] = knob([], "components to fit", at_least=1, distinct=True, may_be_empty=True)
    methods: list[str] = knob(
        list(METHODS), "plain EM, resets, MAP, variational Bayes", choices=METHODS, distinct=True
    )
    restarts: int = knob(60, "starts for each K, the same for all methods", at_least=1)
    min_variance: float = knob(1e-3, "smallest variance of a sound component", above=0)
    tol: float = knob(1e-5, "stop when the objective gains no more", above=0)
    iterations: int = knob(300, "iterations at most", at_least=1, at_most=100_000)

    def rules(self) -> Iterator[str]:
        N = self.size[0]
        if self.point >= N:
            yield f"study.point={self.point}: there are {N} points, counted from 0"
        if max(self.k, default=0) > N:
            yield f"study.k={self.k}: there are {N} points; allowed: no more components"

    def run(self, rng: Generator) -> Outcome:
        X, decades = self.points(rng), np.arange(self.decades + 1)
        coords: dict[str, Any] = {"decade": decades}
        found: dict[str, Any] = {}
        if self.k:
            coords |= {"method": self.methods, "k": sorted(self.k)}
            collapsed, gains = self._remedies(X, rng)
            found["collapsed"] = ("method k", collapsed.astype(int))
            found["smallest_gain"] = ("method k", gains)
        mixture, single = shrinking(X, self.point, self.weight, np.power(10.0, -decades))
        L, alone = (log_density(X, theta).sum(axis=1) for theta in (mixture, single))
        return outcome(
            coords,
            log_likelihood=("decade", L),
            log_posterior=("decade", L + log_prior(mixture, weak_prior(X, 2))),
            single_log_likelihood=("decade", alone),
            **found,
        )

    def _remedies(self, X: Floats, rng: Generator) -> tuple[Floats, Floats]:
        """Starts that end in a collapse, and the smallest gains, by method and K."""
        ks, least = sorted(self.k), self.min_variance
        limits: dict[str, Any] = {"min_eigenvalue": least, "tol": self.tol}
        collapsed, gains = np.empty((2, len(self.methods), len(ks)))
        for j, k in enumerate(ks):
            start = start_at_points(X, k, rng, self.restarts)
            for i, method in enumerate(self.methods):
                Sigma, history = fit_by(method, X, start, rng, max_iter=self.iterations, **limits)
                collapsed[i, j] = (~(smallest_eigenvalue(Sigma) >= least).all(axis=1)).sum()
                gains[i, j] = smallest_gain(history)
        return collapsed, gains
