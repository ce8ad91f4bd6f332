"""Variational mixtures of Gaussians: effective components of K, and the bound (PRML 10.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters
from bythebook.models.approximation import variational_mixture as variational
from bythebook.models.approximation.variational_mixture import Prior
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering.gaussian_mixture_starts import start_at_points
from bythebook.models.clustering.kmeans import assign, random_points
from bythebook.models.em import EMFit, held, smallest_gain, take
from bythebook.models.types import Floats

_SPLIT_STARTS = 4  # of each fit to half of the points
_MAX_REDRAWS = 50  # of these starts, if all of them collapse


@dataclass
class VariationalMixture(Clusters, Study):
    """Variational mixtures from random starts: remaining components and bounds (PRML 10.2).

    The prior is Dir(alpha0) for the coefficients and, for each component, N(0, (beta0 Lambda)^-1)
    W(w0 I, nu0). alpha0 = 0 means coefficients that are parameters (10.83). A start assigns each
    point to the nearest of K random ones.
    """

    headline = {"components_left": "median(components_left)"}
    quantities = {
        "points": quantity("coordinates of the data", "point variable"),
        "points_taken": quantity(
            "expected number of points of a component",
            "alpha0 k restart component",
            equation="PRML 10.51",
        ),
        "components_left": quantity(
            "number of components with one point or more", "alpha0 k restart"
        ),
        "bound": quantity(
            "lower bound on the log evidence",
            "alpha0 k restart",
            unit="nats",
            equation="PRML 10.70",
        ),
        "log_copies": quantity(
            "log of the number of permutations of the components", "k", unit="nats"
        ),
        "iterations": quantity("iterations until the bound gains no more", "alpha0 k restart"),
        "smallest_gain": quantity(
            "smallest gain of the bound in an iteration, relative to the largest bound", "alpha0 k"
        ),
        "history": quantity("lower bound of the best start", "iteration", unit="nats"),
        "component_weight": quantity(
            "expected mixing coefficients of the best start", "step component"
        ),
        "component_mean": quantity("expected means of the best start", "step component variable"),
        "component_covariance": quantity(
            "expected covariances of the best start", "step component variable other"
        ),
        "held_out": quantity("mean log density of held-out points", "method k split", unit="nats"),
    }
    axes = {
        "point": axis_of("point of the data"),
        "variable": axis_of("variable"),
        "other": axis_of("second variable of a covariance"),
        "alpha0": axis_of("parameter of the Dirichlet prior"),
        "k": axis_of("number of components"),
        "restart": axis_of("start"),
        "component": axis_of("component"),
        "step": axis_of("iteration"),
        "iteration": axis_of("iteration"),
        "method": axis_of("variational or maximum likelihood"),
        "split": axis_of("split of the data into halves"),
    }

    k: list[int] = knob([6], "numbers of components", at_least=1, at_most=40, distinct=True)
    alpha0: list[float] = knob(
        [0.001], "of the Dirichlet prior; 0: coefficients are parameters", at_least=0, distinct=True
    )
    beta0: float = knob(1.0, "precision of a mean's prior, in those of its points", above=0)
    nu0: float = knob(2.0, "degrees of freedom of the Wishart prior", above=0)
    w0: float = knob(1.0, "the Wishart prior's scale matrix is w0 I", above=0)
    restarts: int = knob(20, "starts of each fit", at_least=1, at_most=10_000)
    iterations: int = knob(500, "iterations at most", at_least=1, at_most=100_000)
    tol: float = knob(1e-6, "stop when the bound gains no more", above=0)
    snapshots: list[int] = knob([0], "iterations of the best start to record", at_least=0)
    splits: int = knob(0, "times that half of the points is left out", at_least=0, at_most=1000)

    def rules(self) -> Iterator[str]:
        N, D = self.size
        if self.nu0 <= D - 1:
            yield f"study.nu0={self.nu0:g} of {D} variables; allowed: > {D - 1}"
        if max(self.k) > N // 2:
            yield f"study.k={self.k}: there are {N} points; allowed: at most half as many"
        if 0 in self.alpha0 and self.splits:
            yield "study.alpha0 has 0: study.splits needs a Dirichlet factor"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        starts = [_start(X, K, self.restarts, rng) for K in self.k]
        taken = np.zeros((len(self.alpha0), len(self.k), self.restarts, max(self.k)))
        bound, iterations = np.empty((2, *taken.shape[:3]))
        gain = np.empty(taken.shape[:2])
        for i, j in np.ndindex(gain.shape):
            prior, K = self._prior(self.alpha0[i]), self.k[j]
            recorded = (i, K) == (0, max(self.k))
            fit = self._fit(X, starts[j], prior, self.snapshots if recorded else [])
            taken[i, j, :, :K] = fit.theta.alpha - prior.alpha0  # 10.58
            bound[i, j], iterations[i, j] = fit.final, fit.iterations
            gain[i, j] = smallest_gain(fit.objective)
            if recorded:
                steps = [take(fit.snapshots[t], fit.best) for t in self.snapshots]
                history = held(fit.objective)[fit.best]
        coords = self._coords() | {"iteration": len(history)}
        found: dict[str, Any] = {}
        if self.splits:
            coords |= {"method": ["variational", "likelihood"], "split": self.splits}
            halves = [self._held_out(X, rng) for _ in range(self.splits)]
            found["held_out"] = ("method k split", np.stack(halves, axis=-1))
        return outcome(
            coords,
            points=("point variable", X),
            points_taken=("alpha0 k restart component", taken),
            components_left=("alpha0 k restart", (taken >= 1).sum(-1)),
            bound=("alpha0 k restart", bound),
            log_copies=("k", gammaln(np.array(self.k) + 1)),  # ln K!
            iterations=("alpha0 k restart", iterations.astype(int)),
            smallest_gain=("alpha0 k", gain),
            history=("iteration", history),
            component_weight=("step component", [q.alpha / q.alpha.sum() for q in steps]),
            component_mean=("step component variable", [q.m for q in steps]),
            component_covariance=(
                "step component variable other",
                [variational.expected_covariance(q) for q in steps],
            ),
            **found,
        )

    def _coords(self) -> dict[str, Any]:
        N, D = self.size
        counted = {"variable": D, "other": D, "component": max(self.k)}
        coords: dict[str, Any] = {name: np.arange(1, n + 1) for name, n in counted.items()}
        coords |= {"alpha0": self.alpha0, "k": self.k, "restart": self.restarts}
        return coords | {"point": N, "step": self.snapshots}

    def _prior(self, alpha0: float) -> Prior:
        D = self.size[1]
        return Prior(alpha0, self.beta0, np.zeros(D), np.eye(D) / self.w0, self.nu0)

    def _fit(
        self, X: Floats, start: Floats, prior: Prior, snapshots: list[int]
    ) -> EMFit[variational.VariationalMixture]:
        return variational.fit(
            X, start, prior, tol=self.tol, max_iter=self.iterations, snapshots=snapshots
        )

    def _held_out(self, X: Floats, rng: Generator) -> Floats:
        """Mean log density of a random half of the points, variational and likeliest, (2, k)."""
        order = rng.permutation(len(X))
        seen, left = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
        found = np.empty((2, len(self.k)))
        for j, K in enumerate(self.k):
            start = _start(seen, K, _SPLIT_STARTS, rng)
            fit = self._fit(seen, start, self._prior(self.alpha0[0]), [])
            found[0, j] = variational.log_predictive(left, take(fit.theta, [fit.best])).mean()
            found[1, j] = self._likeliest(seen, left, K, rng)
        return found

    def _likeliest(self, seen: Floats, left: Floats, K: int, rng: Generator) -> float:
        """The mean log density of `left` under the maximum-likelihood mixture for `seen`.

        Collapsed fits are left out. If all starts collapse, others are drawn; NaN if that fails.
        """
        for _ in range(_MAX_REDRAWS):
            start = start_at_points(seen, K, rng, _SPLIT_STARTS)
            ml = gaussian.fit(seen, start, min_eigenvalue=1e-4, tol=1e-4, max_iter=self.iterations)
            if not np.isnan(ml.final).all():
                return float(gaussian.log_density(left, take(ml.theta, [ml.best])).mean())
        return np.nan


def _start(X: Floats, K: int, restarts: int, rng: Generator) -> Floats:
    """Responsibilities (R, N, K): each point belongs to the nearest of K random ones."""
    nearest = assign(X, random_points(X, K, rng, restarts))
    return np.asarray(nearest[..., None] == np.arange(K), dtype=np.float64)
