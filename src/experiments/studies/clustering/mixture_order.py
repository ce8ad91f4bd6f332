"""Number of components, type of covariance, prior of the means (FCML 6.3.6, 6.3.7, 6.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering import gaussian_mixture_map as with_prior
from bythebook.models.clustering.agreement import fewest_parts
from bythebook.models.clustering.gaussian_mixture import Covariance, GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.gaussian_mixture_variants import fit_with_floor
from bythebook.models.em import EMFit, take
from bythebook.models.types import Floats


@dataclass
class MixtureOrder(Clusters, Study):
    """Log likelihood of Gaussian mixtures on training data and on held-out data (FCML 6.3.6)."""

    headline = {
        "best_k": "argmax(mean(first(held_out, over='covariance'), over='fold'))",
        "loosest_distance": "last(distance_from_prior)",
    }
    quantities = {
        "points": quantity("coordinates of the data", "point variable"),
        "log_likelihood": quantity("log likelihood of the points", "covariance k", unit="nats"),
        "held_out": quantity(
            "mean log density of held-out points", "covariance k fold", unit="nats"
        ),
        "fewest_parts": quantity(
            "fewest components of the largest mixture that share a component with k components",
            "k start",
        ),
        "means": quantity("means of the largest mixture", "component variable"),
        "covariances": quantity("covariances of the largest mixture", "component variable other"),
        "responsibilities": quantity("responsibilities in the largest mixture", "point component"),
        "means_with_prior": quantity(
            "means of the components with a prior", "prior_variance component variable"
        ),
        "means_without_prior": quantity(
            "means of diagonal components without a prior", "component variable"
        ),
        "distance_from_prior": quantity(
            "root mean square distance of the means from the prior mean", "prior_variance"
        ),
    }
    axes = {
        "point": axis_of("point of the data"),
        "variable": axis_of("variable"),
        "other": axis_of("second variable of a covariance"),
        "covariance": axis_of("kind of covariance"),
        "k": axis_of("number of components"),
        "fold": axis_of("part that is held out"),
        "start": axis_of("start"),
        "component": axis_of("component"),
        "prior_variance": axis_of("variance of the prior of the means"),
    }

    k: list[int] = knob(
        [1, 2, 3, 4, 5], "numbers of components", at_least=1, at_most=20, distinct=True
    )
    covariances: list[str] = knob(
        ["full"], "kinds of covariance", choices=("full", "diagonal", "spherical"), distinct=True
    )
    folds: int = knob(0, "parts for cross-validation; 0 for none", at_least=0, at_most=100)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    iterations: int = knob(2000, "iterations at most", at_least=1, at_most=100_000)
    floor: float = knob(0.01, "the smallest variance of a component in any direction", above=0)
    prior_variances: list[float] = knob(
        [], "of a prior of the largest mixture's means", above=0, distinct=True, may_be_empty=True
    )

    def rules(self) -> Iterator[str]:
        if self.folds == 1 or self.folds > self.size[0]:
            yield f"study.folds={self.folds}; allowed: 0, or 2 to {self.size[0]} parts"
        if self.prior_variances and self.size[1] != 2:
            yield f"study.prior_variances: the data have {self.size[1]} variables; allowed: 2"

    def run(self, rng: Generator) -> Outcome:
        X, ks = self.points(rng), sorted(self.k)
        coords, found = self._with_priors(X, rng) if self.prior_variances else ({}, {})
        fits, largest, held = [], [], []  # of each kind; the largest mixture from every start
        for kind in self.covariances:
            ends = [self._fit(X, K, kind, rng) for K in ks]
            fits.append([take(em.theta, [em.best]) for em in ends])
            largest.append(ends[-1].theta)
            if self.folds:
                held.append(self._held_out(X, ks, kind, rng))
        if held:
            coords["fold"] = self.folds
            found["held_out"] = ("covariance k fold", held)
        L = [[gaussian.log_density(X, best).sum() for best in row] for row in fits]
        gammas = [gaussian.responsibilities(X, best)[0] for best in fits[0]]  # (N, K) each
        fine = gaussian.responsibilities(X, largest[0]).argmax(axis=2)
        parts = [fewest_parts(fine, gamma.argmax(axis=1)) for gamma in gammas]
        counted = {"variable": X.shape[1], "other": X.shape[1], "component": ks[-1]}
        coords |= {name: np.arange(1, n + 1) for name, n in counted.items()}
        coords |= {"covariance": self.covariances, "k": ks, "start": self.restarts}
        return outcome(
            coords | {"point": len(X)},
            points=("point variable", X),
            log_likelihood=("covariance k", L),
            fewest_parts=("k start", parts),
            responsibilities=("point component", gammas[-1]),
            means=("component variable", fits[0][-1].mu[0]),
            covariances=("component variable other", fits[0][-1].Sigma[0]),
            **found,
        )

    def _fit(self, X: Floats, k: int, kind: str, rng: Generator) -> EMFit[GaussianMixture]:
        start, covariance = start_at_points(X, k, rng, self.restarts), cast("Covariance", kind)
        limits: dict[str, Any] = {"tol": 1e-3, "max_iter": self.iterations}
        return fit_with_floor(X, start, self.floor, covariance=covariance, **limits)

    def _held_out(self, X: Floats, ks: list[int], kind: str, rng: Generator) -> Floats:
        """Mean log density of the held-out points, shape (K, folds)."""
        out = np.empty((self.folds, len(ks)))
        part = rng.permutation(np.arange(len(X)) % self.folds)
        for f, i in np.ndindex(out.shape):
            em = self._fit(X[part != f], ks[i], kind, rng)
            out[f, i] = gaussian.log_density(X[part == f], take(em.theta, [em.best])).mean()
        return out.T

    def _with_priors(self, X: Floats, rng: Generator) -> tuple[dict[str, Any], dict[str, Any]]:
        """Diagonal mixtures whose means have the prior N(0, s^2), from tight to loose ones."""
        start = start_at_points(X, max(self.k), rng, self.restarts)
        ml = gaussian.fit(X, start, covariance="diagonal", min_eigenvalue=1e-3)
        s2 = sorted(self.prior_variances)
        fits = [with_prior.fit(X, start, with_prior.MeanPrior(0.0, value)) for value in s2]
        means = np.stack([em.theta.mu[em.best] for em in fits])
        distance = np.sqrt(np.square(means).sum(axis=2).mean(axis=1))
        return {"prior_variance": s2}, {
            "means_with_prior": ("prior_variance component variable", means),
            "means_without_prior": ("component variable", ml.theta.mu[ml.best]),
            "distance_from_prior": ("prior_variance", distance),
        }
