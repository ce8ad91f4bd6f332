"""Number of components, type of covariance, prior of the means (FCML 6.3.6, 6.3.7, 6.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters, numbered, of_points
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering import gaussian_mixture_map as with_prior
from bythebook.models.clustering.agreement import fewest_parts
from bythebook.models.clustering.gaussian_mixture import Covariance, GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.gaussian_mixture_variants import fit_with_floor
from bythebook.models.em import EMFit, smallest_gain, take
from bythebook.models.types import Floats

ELSEWHERE = with_prior.MeanPrior(0.7, 1.3)


@dataclass
class MixtureOrder(Clusters, Study):
    """Log likelihood of Gaussian mixtures on training data and on held-out data (FCML 6.3.6)."""

    headline = {
        "best_k": "argmax(mean(first(held_out, over='covariance'), over='fold'))",
        "loosest_distance": "last(distance_from_prior)",
    }
    more_quantities = True
    quantities = {
        "held_out": quantity("log density of held-out points", "covariance k fold", unit="nats"),
        "distance_from_prior": quantity(
            "distance of the component means from the prior mean", "prior_variance"
        ),
    }

    k: list[int] = knob(
        [1, 2, 3, 4, 5], "numbers of components", at_least=1, at_most=20, distinct=True
    )
    covariances: list[str] = knob(
        ["full"], "kinds of covariance", choices=("full", "diagonal", "spherical"), distinct=True
    )
    folds: int = knob(0, "parts for cross-validation; 0 for none", at_least=0, at_most=100)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    iterations: int = knob(200, "iterations at most", at_least=1, at_most=10_000)
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
        X, k = self.points(rng), axis("k", sorted(self.k))
        further = self._with_priors(X, rng) if self.prior_variances else {}
        fits: dict[str, list[GaussianMixture]] = {}
        largest = []  # of each kind, the largest mixture from every start
        held: list[Floats] = []
        for kind in self.covariances:
            ends = [self._fit(X, K, kind, rng) for K in k.values]
            fits[kind] = [take(em.theta, [em.best]) for em in ends]
            largest.append(ends[-1].theta)
            if self.folds:
                held.append(self._held_out(X, k.values.tolist(), kind, rng))
        L = [[gaussian.log_density(X, best).sum() for best in row] for row in fits.values()]
        first = fits[self.covariances[0]]
        gammas = [gaussian.responsibilities(X, best)[0] for best in first]  # (N, K) each
        labels = [gamma.argmax(axis=1) + 1 for gamma in gammas]
        fine = gaussian.responsibilities(X, largest[0]).argmax(axis=2)
        points, covariance = of_points(X), axis("covariance", self.covariances)
        point, variable = points.axes
        component, other = numbered("component", max(self.k)), numbered("other", len(variable))
        if held:
            further["held_out"] = over(held, covariance, k, axis("fold", self.folds))
        return Outcome(
            points=points,
            log_likelihood=over(L, covariance, k),
            # Of the first kind: the most probable components, and the largest mixture.
            labels=over(labels, k, point),
            # For the largest, from each start: the fewest components that share one with k.
            fewest_parts=over(
                [fewest_parts(fine, coarse) for coarse in labels], k, axis("start", self.restarts)
            ),
            responsibilities=over(gammas[-1], point, component),
            means=over(first[-1].mu[0], component, variable),
            covariances=over(first[-1].Sigma[0], component, variable, other),
            **further,
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

    def _with_priors(self, X: Floats, rng: Generator) -> dict[str, float | Quantity]:
        """Diagonal mixtures whose means have the prior N(0, s^2), from tight to loose ones."""
        start = start_at_points(X, max(self.k), rng, self.restarts)
        ml = gaussian.fit(X, start, covariance="diagonal", min_eigenvalue=1e-3)
        best = take(ml.theta, [ml.best])
        s2 = axis("prior_variance", sorted(self.prior_variances))
        priors = [with_prior.MeanPrior(0.0, value) for value in s2.values]
        fits = [with_prior.fit(X, start, prior) for prior in priors]
        means = np.stack([em.theta.mu[em.best] for em in fits])
        # One more step from the maximum of the likelihood: a loose prior leaves it where it is.
        q, _ = gaussian.e_step(X, best)
        loose = with_prior.m_step(best, q, priors[-1])
        stepped = with_prior.m_step(best, q, ELSEWHERE)
        gamma = gaussian.responsibilities(X, best)[0]
        component, variable = numbered("component", max(self.k)), numbered("variable", X.shape[1])
        return {
            "means_with_prior": over(means, s2, component, variable),
            "means_without_prior": over(best.mu[0], component, variable),
            "weights_with_prior": over([em.theta.pi[em.best] for em in fits], s2, component),
            "variances_with_prior": over(
                [_variances(take(em.theta, [em.best])) for em in fits], s2, component, variable
            ),
            "distance_from_prior": s2.of(np.sqrt(np.square(means).sum(axis=2).mean(axis=1))),
            "smallest_gain": s2.of([smallest_gain(em.objective) for em in fits]),
            "log_posterior": s2.of([em.final[em.best] for em in fits]),
            "log_likelihood_without_prior": float(ml.final[ml.best]),
            "step_from_maximum": float(np.abs(loose.mu - best.mu).max()),
            # A step from the same place with a prior that has its mean elsewhere.
            "responsibilities_without_prior": over(gamma, axis("point", len(X)), component),
            "variances_without_prior": over(_variances(best), component, variable),
            "stepped_means": over(stepped.mu[0], component, variable),
            "stepped_variances": over(_variances(stepped), component, variable),
            "stepped_weights": component.of(stepped.pi[0]),
            "log_prior_elsewhere": float(with_prior.log_prior(best, ELSEWHERE)[0]),
        }


def _variances(theta: GaussianMixture) -> Floats:
    """Variances of the first of R mixtures, (K, D)."""
    return np.asarray(np.diagonal(theta.Sigma[0], axis1=-2, axis2=-1))
