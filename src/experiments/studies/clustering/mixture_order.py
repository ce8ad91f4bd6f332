"""How many components, and which covariances: training and held-out likelihood (FCML 6.3.6-7)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, numbered, of_points
from models.clustering.gaussian_mixture import (
    Covariance,
    GaussianMixture,
    log_density,
    responsibilities,
)
from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.gaussian_mixture_variants import fit_with_floor
from models.em import take
from models.types import Floats


@dataclass
class MixtureOrder(Clusters, Study):
    """Log likelihood of Gaussian mixtures on the data they were fitted to, and on held-out data."""

    headline = {"best_k": "argmax(mean(first(held_out, over='covariance'), over='fold'))"}

    k: list[int] = knob([1, 2, 3, 4, 5], "numbers of components", at_least=1, at_most=20)
    covariances: list[str] = knob(
        ["full"], "kinds of covariance", choices=("full", "diagonal", "spherical"), distinct=True
    )
    folds: int = knob(0, "parts for cross-validation; 0 for none", at_least=0, at_most=100)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    iterations: int = knob(200, "iterations at most", at_least=1, at_most=10_000)
    floor: float = knob(0.01, "the least variance of a component in any direction", above=0)

    def rules(self) -> Iterator[str]:
        if self.folds == 1 or self.folds > self.size[0]:
            yield f"study.folds={self.folds}; allowed: 0, or 2 to {self.size[0]} parts"
        if sorted(set(self.k)) != self.k:
            yield f"study.k={self.k}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        fits: dict[str, list[GaussianMixture]] = {}
        held: list[Floats] = []
        for kind in self.covariances:
            fits[kind] = [self._best(X, k, kind, rng) for k in self.k]
            if self.folds:
                held.append(self._held_out(X, kind, rng))
        likelihoods = [[log_density(X, best).sum() for best in row] for row in fits.values()]
        first = fits[self.covariances[0]]
        gammas = [responsibilities(X, best)[0] for best in first]  # (N, K) each

        points = of_points(X)
        point, variable = points.axes
        covariance, k = axis("covariance", self.covariances), axis("k", self.k)
        component, other = numbered("component", self.k[-1]), numbered("other", len(variable))
        held_out = {"held_out": over(held, covariance, k, axis("fold", self.folds))} if held else {}
        return Outcome(
            points=points,
            log_likelihood=over(likelihoods, covariance, k),
            # Of the first kind: the most probable components, and the largest mixture.
            labels=over([gamma.argmax(axis=1) + 1 for gamma in gammas], k, point),
            responsibilities=over(gammas[-1], point, component),
            means=over(first[-1].mu[0], component, variable),
            covariances=over(first[-1].Sigma[0], component, variable, other),
            **held_out,
        )

    def _best(self, X: Floats, k: int, kind: str, rng: Generator) -> GaussianMixture:
        em = fit_with_floor(
            X,
            start_at_points(X, k, rng, self.restarts),
            self.floor,
            covariance=cast("Covariance", kind),
            tol=1e-3,
            max_iter=self.iterations,
        )
        return take(em.theta, [em.best])

    def _held_out(self, X: Floats, kind: str, rng: Generator) -> Floats:
        """Mean log density of the held-out points, shape (K, folds)."""
        out = np.empty((len(self.k), self.folds))
        part = rng.permutation(np.arange(len(X)) % self.folds)
        for f in range(self.folds):
            for i, k in enumerate(self.k):
                best = self._best(X[part != f], k, kind, rng)
                out[i, f] = log_density(X[part == f], best).mean()
        return out
