"""K-means or EM for Gaussians from one start, step by step (PRML 9.1 and 9.2.2, FCML 6.2-6.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import (
    Clusters,
    all_derivatives,
    mean_derivative,
    numbered,
    of_points,
    place_problems,
)
from bythebook.models.clustering import kmeans as lloyd
from bythebook.models.clustering.agreement import agreement
from bythebook.models.clustering.gaussian_mixture import fit, iterations_to_settle, log_joint
from bythebook.models.clustering.gaussian_mixture_score import score
from bythebook.models.clustering.gaussian_mixture_starts import start_at, start_of_gaussians
from bythebook.models.clustering.mixture import free_energy, moments, posterior
from bythebook.models.em import held, path, smallest_gain, take
from bythebook.models.types import Floats

SETTLED = 0.95  # share of the points that must be in their final cluster
LIMIT = 500  # iterations of EM at most
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
    more_quantities = True
    quantities = {
        "distortion": quantity(
            "sum of squared distances from the points to their means", "half_step"
        ),
        "log_likelihood": quantity("log likelihood of the mixture", "iteration", unit="nats"),
        "means": quantity("means of the clusters", "iteration cluster variable"),
    }

    model: str = knob("kmeans", "what is fitted", choices=("kmeans", "mixture"))
    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "initial means; at random if empty", may_be_empty=True
    )
    k: int = knob(2, "clusters", at_least=2, at_most=8)
    variance: float = knob(1.0, "EM's covariances begin as this times the unit matrix", above=0)
    jitter: float = knob(0.5, "standard deviation of the starts about `start`", at_least=0)
    box: list[float] = knob([-5.0, 5.0], "random means of K-means lie between, per variable")
    repetitions: int = knob(200, "starts, about `start` or at random", at_least=2, at_most=10_000)
    show: list[int] = knob(
        [1, 2, 5, 20],
        "iterations or half steps to draw",
        at_least=0,
        distinct=True,
        may_be_empty=True,
    )
    tol: float = knob(1e-8, "EM stops when the log likelihood gains no more", above=0)

    def rules(self) -> Iterator[str]:
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if len(self.box) != 2 or self.box[0] >= self.box[1]:
            yield f"study.box={self.box}; allowed: two numbers, low < high"
        yield from place_problems("start", self.start, 2, self.k)

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        moves = rng.standard_normal((self.repetitions, self.k, 2)) if self.start else None
        near = None if moves is None else np.array(self.start) + self.jitter * moves
        return (self._kmeans if self.model == "kmeans" else self._mixture)(X, near, rng)

    def _kmeans(self, X: Floats, near: Floats | None, rng: Generator) -> Outcome:
        starts = near
        if starts is None:
            low, high = np.full((2, 2), np.array(self.box)[:, None])
            starts = lloyd.random_in_box(low, high, self.k, rng, self.repetitions)
        others = lloyd.kmeans(X, starts)
        best = int(np.argmax(others.final < others.final.min() * (1 + 1e-9)))
        shown = starts[best] if near is None else np.array(self.start)
        one = lloyd.kmeans(X, shown[None], snapshots=range(300))
        T = int(one.iterations[0])
        centres = np.stack([one.snapshots[t][0] for t in range(T + 1)])
        labels = lloyd.assign(X, centres)  # of the E step that follows
        half_steps = [f"{step}{t}" for t in range(1, T + 1) for step in "EM"]
        points, repetition = of_points(X), axis("repetition", self.repetitions)
        iteration, cluster = axis("iteration", T + 1), numbered("cluster", self.k)
        return Outcome(
            points=points,
            means=over(centres, iteration, cluster, points.axes[1]),
            labels=over(labels, iteration, points.axes[0]),
            bisector_margin=iteration.of(lloyd.bisector_margins(X, centres, labels)),
            cluster_size=cluster.of(np.bincount(labels[T], minlength=self.k)),
            distortion=axis("half_step", half_steps).of(one.distortion[0]),
            # The other starts.
            cycles=repetition.of(others.iterations),
            final_distortion=repetition.of(others.final),
            converged=repetition.of(others.converged),
            clusters_left=repetition.of([len(np.unique(found)) for found in others.labels]),
            smallest_gain=smallest_gain(-others.distortion),
        )

    def _mixture(self, X: Floats, near: Floats | None, rng: Generator) -> Outcome:
        if near is None:
            starts = start_of_gaussians(self.k, 2, rng, self.repetitions)
        else:
            near[0] = self.start
            starts = start_at(near, self.variance * np.eye(2))
        run_em = partial(fit, X, min_eigenvalue=COLLAPSED, tol=self.tol, max_iter=LIMIT)
        others = run_em(starts, snapshots=range(101))
        settled = iterations_to_settle(X, others, SETTLED)
        reached = others.final > np.nanmax(others.final, initial=-np.inf) - 0.1
        gains = np.diff(others.objective[reached])  # of the starts that find the best optimum
        shown = take(starts, [0 if self.start else int(np.argmax(reached))])
        one = run_em(shown, snapshots=range(LIMIT + 1))
        T = int(one.iterations[0]) - int(np.isnan(one.final[0]))  # short of a collapse
        if T < 1:
            raise InputError(
                "a component collapses in the first iteration; try another study.start"
            )
        theta = path(one, T)
        joint = log_joint(X, theta)  # (T + 1, N, K)
        q, log_evidence = posterior(joint)
        by_kmeans = lloyd.kmeans(X, lloyd.random_points(X, self.k, rng, 50))
        best = by_kmeans.labels[by_kmeans.best]
        centre, spread = moments(X, q[0])
        points, iteration = of_points(X), axis("iteration", T + 1)
        point, variable = points.axes
        cluster, other = numbered("cluster", self.k), numbered("other_variable", 2)
        snapshot = axis("snapshot", [0, *sorted(self.show)])
        most = max(int(snapshot.values[-1]), others.objective.shape[1] - 1)
        reaching = axis("best_start", np.flatnonzero(reached))
        return Outcome(
            points=points,
            weights=over(theta.pi, iteration, cluster),
            means=over(theta.mu, iteration, cluster, variable),
            covariances=over(theta.Sigma, iteration, cluster, variable, other),
            responsibilities=over(q[np.minimum(snapshot.values, T)], snapshot, point, cluster),
            # The moments of the points, weighted by the first E step.
            ink_mean=over(centre, cluster, variable),
            ink_covariance=over(spread, cluster, variable, other),
            log_likelihood=iteration.of(log_evidence.sum(axis=1)),
            bound_after_e=iteration.of(free_energy(joint, q)),  # of the E step that follows
            bound_after_m=iteration.of([-np.inf, *free_energy(joint[1:], q[:-1])]),
            mean_derivative=mean_derivative(X, take(theta, [1]), cluster),
            mean_derivative_at_end=mean_derivative(X, take(theta, [T]), cluster),
            derivatives_at_end=all_derivatives(X, take(theta, [T])),
            weight_derivative=cluster.of(score(X, take(theta, [1])).pi[0]),
            kmeans_agreement=agreement(q[T].argmax(axis=1), best, self.k),
            # The other starts.
            remaining_gain=over(
                others.final[:, None] - held(others.objective, most + 1)[:, snapshot.values],
                axis("repetition", self.repetitions),
                snapshot,
            ),
            smallest_gain=smallest_gain(others.objective),
            iterations_to_settle=reaching.of(settled[reached]),
            largest_gain_at=reaching.of(np.nanargmax(gains, axis=1) + 1),
        )
