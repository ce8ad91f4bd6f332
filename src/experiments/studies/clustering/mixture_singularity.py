"""The likelihood of a Gaussian mixture has no maximum: collapse, and its remedies (PRML 9.2.1).

Also PRML 9.3 and 10.2 (priors), Notes 3.3.2, Ghahramani 3 (MAP).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters
from models.approximation import variational_mixture
from models.clustering import bernoulli_mixture
from models.clustering.gaussian_mixture import (
    GaussianMixture,
    Prior,
    fit,
    log_density,
    log_prior,
    smallest_eigenvalue,
)
from models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    start_at_points,
    start_from_labels,
)
from models.clustering.gaussian_mixture_variants import fit_with_resets
from models.clustering.kmeans import assign, kmeans, kmeans_plus_plus
from models.em import smallest_gain
from models.types import Floats

METHODS = ("ml", "reset", "map", "vb")


@dataclass
class MixtureSingularity(Clusters, Study):
    """A component that shrinks onto a point, and how often EM ends there with each remedy."""

    headline = {"collapsed": "sum(collapsed)"}

    decades: int = knob(16, "shrink from width 1 by so many powers of ten", at_least=4, at_most=140)
    weight: float = knob(0.5, "weight of the component that shrinks", above=0, below=1)
    point: int = knob(0, "the data point it shrinks onto", at_least=0)
    k: list[int] = knob(
        [], "numbers of components to fit", at_least=1, distinct=True, may_be_empty=True
    )
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
        best = float(np.max(regular[~np.isnan(regular)], initial=-np.inf))
        return Outcome(regular_maximum=best, **self._shrinking(X), **remedies)

    def _shrinking(self, X: Floats) -> dict[str, Quantity]:
        """Two components, the first the Gaussian of all the data; the widths are a batch axis."""
        decade, D, where = axis("decade", self.decades + 1), X.shape[1], X[self.point]
        widths: Floats = np.power(10.0, -decade.values)
        unit = np.broadcast_to(np.eye(D), (len(widths), 1, D, D))
        small = unit * widths[:, None, None, None] ** 2
        whole = np.broadcast_to(sample_covariance(X), small.shape)
        mixture = GaussianMixture(
            np.tile([1 - self.weight, self.weight], (len(widths), 1)),
            np.tile(np.stack([X.mean(axis=0), where]), (len(widths), 1, 1)),
            np.concatenate([whole, small], axis=1),
        )
        single = GaussianMixture(np.ones((len(widths), 1)), mixture.mu[:, 1:], small)
        L, alone = (log_density(X, theta).sum(axis=1) for theta in (mixture, single))
        return {
            "log_likelihood": decade.of(L),
            "log_posterior": decade.of(L + log_prior(mixture, weak_prior(X, 2))),
            "single_log_likelihood": decade.of(alone),
            "log_height": decade.of(log_density(where[None], single)[:, 0]),  # ln N(x | x, s^2 I)
            "largest_bernoulli_log_density": decade.of(_bernoulli(X, widths, self.point)),
        }

    def _remedies(self, X: Floats, rng: Generator) -> dict[str, Quantity]:
        """How many starts each method loses to a collapse, for each K."""
        ks = sorted(self.k)
        found = np.empty((3, len(self.methods), len(ks)))
        for j, k in enumerate(ks):
            start = start_at_points(X, k, rng, self.restarts)
            for i, method in enumerate(self.methods):
                Sigma, objective = self._fit(X, start, method, k, rng)
                least = smallest_eigenvalue(Sigma)
                lost = ~(least >= self.collapsed_below).all(axis=1)
                found[:, i, j] = lost.sum(), np.nanmin(least), smallest_gain(objective)
        axes = axis("method", self.methods), axis("k", ks)
        return {
            "collapsed": over(found[0].astype(int), *axes),
            "smallest_variance": over(found[1], *axes),
            "smallest_gain": over(found[2], *axes),
        }

    def _fit(
        self, X: Floats, start: GaussianMixture, method: str, k: int, rng: Generator
    ) -> tuple[Floats, Floats]:
        """The covariances at the end, shape (R, K, D, D), and the objective on the way."""
        tol, most = self.tol, self.iterations
        prior, least = weak_prior(X, k), self.collapsed_below
        if method == "vb":
            flat = variational_mixture.Prior(1.0, 1.0, X.mean(axis=0), prior.S0, prior.nu0)
            nearest = (assign(X, start.mu)[..., None] == np.arange(k)).astype(float)
            vb = variational_mixture.fit(X, nearest, flat, tol=tol, max_iter=most)
            return variational_mixture.expected_covariance(vb.theta), vb.objective
        if method == "reset":
            em = fit_with_resets(X, start, rng, min_eigenvalue=least, tol=tol, max_iter=most).fit
        elif method == "map":
            em = fit(X, start, prior=prior, tol=tol, max_iter=most)
        else:
            em = fit(X, start, min_eigenvalue=least, tol=tol, max_iter=most)
        return em.theta.Sigma, em.objective


def weak_prior(X: Floats, k: int) -> Prior:
    """MLAPP 11.4.2.8: scale the pooled variances over K^(1/D), D + 2 degrees of freedom."""
    D = X.shape[1]
    return Prior(1.0, np.diag(X.var(axis=0)) / k ** (1 / D), D + 2.0)


def _bernoulli(X: Floats, widths: Floats, point: int) -> Floats:
    """The same collapse for binary data (above the median or not): the largest log density."""
    binary = (X - np.median(X, axis=0) > 0).astype(float)
    mean = np.broadcast_to(binary.mean(axis=0), (len(widths), X.shape[1]))
    target, doubt = binary[point], np.minimum(widths, 0.5)[:, None]
    shrinking = target * (1 - doubt) + (1 - target) * doubt
    theta = bernoulli_mixture.BernoulliMixture(
        np.full((len(widths), 2), 0.5), np.stack([mean, shrinking], axis=1)
    )
    return np.asarray(bernoulli_mixture.log_density(binary, theta).max(axis=1))
