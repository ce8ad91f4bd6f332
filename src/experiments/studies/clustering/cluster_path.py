"""K-means or EM for Gaussians from one start, step by step (PRML 9.1 and 9.2.2, FCML 6.2-6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import Clusters, place_problems
from bythebook.models.clustering import kmeans as lloyd
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.gaussian_mixture import fit, iterations_to_settle, log_joint
from bythebook.models.clustering.gaussian_mixture_starts import start_at, start_of_gaussians
from bythebook.models.clustering.mixture import free_energy, posterior
from bythebook.models.em import held, path, smallest_gain, take
from bythebook.models.types import Floats

SETTLED = 0.95  # share of the points that must be in their final cluster
COLLAPSED = 1e-3  # EM ends when a variance falls below this


@dataclass
class ClusterPath(Clusters, Study):
    """Every step of K-means or EM from one start, and results of starts near it or at random.

    A given start is shown; among random starts the first one that finds the best optimum.
    """

    headline = {
        "iterations": "last(coordinates(means, over='iteration'))",
        "distortion": "last(distortion)",
        "log_likelihood": "last(log_likelihood)",
    }
    quantities = {
        "points": quantity("coordinates of the data", "point variable"),
        "means": quantity("means of the clusters", "iteration cluster variable"),
        "labels": quantity("cluster of each point in the next E step", "iteration point"),
        "distortion": quantity(
            "sum of squared distances from the points to their means", "half_step"
        ),
        "ambiguity": quantity(
            "squared distance to the second nearest final mean over that to the nearest", "point"
        ),
        "plotted_labels": quantity(
            "nearest final mean if the ranges of both variables have one length", "point"
        ),
        "cycles": quantity("iterations of K-means from each start", "repetition"),
        "final_distortion": quantity("distortion at the end of each start", "repetition"),
        "converged": quantity("whether K-means ended with no change", "repetition"),
        "smallest_gain": quantity(
            "smallest gain of the objective in a step from any start, relative to the largest"
        ),
        "weights": quantity("mixing coefficients", "iteration cluster"),
        "covariances": quantity(
            "covariances of the components", "iteration cluster variable other"
        ),
        "responsibilities": quantity("responsibilities", "snapshot point cluster"),
        "log_likelihood": quantity("log likelihood of the mixture", "iteration", unit="nats"),
        "bound": quantity(
            "lower bound after the M step", "iteration", unit="nats", equation="FCML 6.8"
        ),
        "kmeans_agreement": quantity("share of the points in the cluster of K-means"),
        "remaining_gain": quantity(
            "log likelihood still to be gained", "repetition snapshot", unit="nats"
        ),
        "iterations_to_settle": quantity(
            "iterations until 95 % of the points keep their final cluster", "best_start"
        ),
        "largest_gain_at": quantity("iteration with the largest gain", "best_start"),
    }
    axes = {
        "point": axis_of("point of the data"),
        "variable": axis_of("variable"),
        "other": axis_of("second variable of a covariance"),
        "iteration": axis_of("iteration"),
        "cluster": axis_of("cluster"),
        "half_step": axis_of("half step"),
        "repetition": axis_of("start"),
        "snapshot": axis_of("iteration"),
        "best_start": axis_of("start that finds the best optimum"),
    }

    model: str = knob("kmeans", "what is fitted", choices=("kmeans", "mixture"))
    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "initial means; at random if empty", may_be_empty=True
    )
    k: int = knob(2, "clusters", at_least=2, at_most=8)
    variance: float = knob(1.0, "EM's covariances begin as this times the unit matrix", above=0)
    jitter: float = knob(0.5, "standard deviation of the starts about `start`", at_least=0)
    start_box: list[float] = knob([-5.0, 5.0], "random means of K-means lie between, per variable")
    repetitions: int = knob(200, "starts, about `start` or at random", at_least=2, at_most=10_000)
    snapshots: list[int] = knob(
        [1, 2, 5, 20], "iterations of EM whose responsibilities are recorded", at_least=0
    )
    tol: float = knob(1e-8, "EM stops when the log likelihood gains no more", above=0)
    iterations: int = knob(500, "iterations of EM at most", at_least=100, at_most=100_000)

    def rules(self) -> Iterator[str]:
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if len(self.start_box) != 2 or self.start_box[0] >= self.start_box[1]:
            yield f"study.start_box={self.start_box}; allowed: two numbers, low < high"
        yield from place_problems("start", self.start, 2, self.k)

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        moves = rng.standard_normal((self.repetitions, self.k, 2)) if self.start else None
        near = None if moves is None else np.array(self.start) + self.jitter * moves
        steps = self._kmeans if self.model == "kmeans" else self._mixture
        coords: dict[str, Any] = {"point": len(X), "repetition": self.repetitions}
        coords |= {"variable": [1, 2], "cluster": np.arange(1, self.k + 1)}
        more, found = steps(X, near, rng)
        return outcome(coords | more, points=("point variable", X), **found)

    def _kmeans(
        self, X: Floats, near: Floats | None, rng: Generator
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        starts = near
        if starts is None:
            low, high = np.full((2, 2), np.array(self.start_box)[:, None])
            starts = lloyd.random_in_box(low, high, self.k, rng, self.repetitions)
        others = lloyd.kmeans(X, starts)
        best = int(np.argmax(others.final < others.final.min() * (1 + 1e-9)))
        shown = starts[best] if near is None else np.array(self.start)
        one = lloyd.kmeans(X, shown[None], snapshots=range(300))
        T = int(one.iterations[0])
        centres = np.stack([one.snapshots[t][0] for t in range(T + 1)])
        away = X[:, None] - centres[-1]
        squares = np.sort(np.square(away).sum(axis=-1), axis=1)
        plotted = np.square(away / np.ptp(X, axis=0)).sum(axis=-1).argmin(axis=1)
        half_steps = [f"{step}{t}" for t in range(1, T + 1) for step in "EM"]
        return {"iteration": T + 1, "half_step": half_steps}, {
            "means": ("iteration cluster variable", centres),
            "labels": ("iteration point", lloyd.assign(X, centres)),
            "distortion": ("half_step", one.distortion[0]),
            "ambiguity": ("point", squares[:, 1] / squares[:, 0]),
            "plotted_labels": ("point", plotted),
            "cycles": ("repetition", others.iterations),
            "final_distortion": ("repetition", others.final),
            "converged": ("repetition", others.converged),
            "smallest_gain": smallest_gain(-others.distortion),
        }

    def _mixture(
        self, X: Floats, near: Floats | None, rng: Generator
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if near is None:
            starts = start_of_gaussians(self.k, 2, rng, self.repetitions)
        else:
            near[0] = self.start
            starts = start_at(near, self.variance * np.eye(2))
        limits: dict[str, Any] = {"tol": self.tol, "max_iter": self.iterations}
        limits["min_eigenvalue"] = COLLAPSED
        others = fit(X, starts, snapshots=range(101), **limits)
        settled = iterations_to_settle(X, others, SETTLED)
        reached = others.final > np.nanmax(others.final, initial=-np.inf) - 0.1
        gains = np.diff(others.objective[reached])  # of the starts that find the best optimum
        shown = take(starts, [0 if self.start else int(np.argmax(reached))])
        one = fit(X, shown, snapshots=range(self.iterations + 1), **limits)
        T = int(one.iterations[0]) - int(np.isnan(one.final[0]))  # short of a collapse
        if T < 1:
            raise InputError(
                "a component collapses in the first iteration; try another study.start"
            )
        theta = path(one, T)
        joint = log_joint(X, theta)  # (T + 1, N, K)
        q, log_evidence = posterior(joint)
        by_kmeans = lloyd.kmeans(X, lloyd.random_points(X, self.k, rng, 50))
        snapshots = np.array([0, *sorted(self.snapshots)])
        length = 1 + max(int(snapshots[-1]), others.objective.shape[1] - 1)
        remaining = others.final[:, None] - held(others.objective, length)[:, snapshots]
        coords: dict[str, Any] = {"iteration": T + 1, "snapshot": snapshots, "other": [1, 2]}
        coords["best_start"] = np.flatnonzero(reached)
        labels = by_kmeans.labels[by_kmeans.best]
        return coords, {
            "weights": ("iteration cluster", theta.pi),
            "means": ("iteration cluster variable", theta.mu),
            "covariances": ("iteration cluster variable other", theta.Sigma),
            "responsibilities": ("snapshot point cluster", q[np.minimum(snapshots, T)]),
            "log_likelihood": ("iteration", log_evidence.sum(axis=1)),
            "bound": ("iteration", [-np.inf, *free_energy(joint[1:], q[:-1])]),
            "kmeans_agreement": agreement(q[T].argmax(axis=1), labels, self.k),
            "remaining_gain": ("repetition snapshot", remaining),
            "smallest_gain": smallest_gain(others.objective),
            "iterations_to_settle": ("best_start", settled[reached]),
            "largest_gain_at": ("best_start", np.nanargmax(gains, axis=1) + 1),
        }
