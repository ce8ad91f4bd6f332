"""EM for a Gaussian mixture from one start, with snapshots on the way (PRML 9.2.2, FCML 6.3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, numbered, of_points, place_problems
from models.clustering.agreement import agreement
from models.clustering.gaussian_mixture import GaussianMixture, fit, iterations_to_settle, log_joint
from models.clustering.gaussian_mixture_score import mean_terms, score
from models.clustering.gaussian_mixture_starts import start_at, start_of_gaussians
from models.clustering.kmeans import kmeans, random_points
from models.clustering.mixture import free_energy, posterior
from models.em import smallest_gain, take

SETTLED = 0.95  # share of the points that have to be where they end


@dataclass
class MixturePath(Clusters, Study):
    """EM after 1, 2, 5, 20 ... iterations, with the bound, and the same from many other starts."""

    headline = {"iterations": "size(log_likelihood) - 1", "log_likelihood": "last(log_likelihood)"}

    start: list[list[float]] = knob(
        [[-1.5, 1.0], [1.5, -1.0]], "the means to begin with; at random if empty", may_be_empty=True
    )
    k: int = knob(2, "components", at_least=2, at_most=8)
    variance: float = knob(1.0, "the covariances begin as this times the unit matrix", above=0)
    jitter: float = knob(0.5, "how well the start is known: sd of its coordinates", at_least=0)
    repetitions: int = knob(200, "starts, about `start` or at random", at_least=2, at_most=10_000)
    snapshots: list[int] = knob([1, 2, 5, 20], "iterations to show", at_least=1, distinct=True)
    tol: float = knob(1e-8, "stop when the log likelihood gains no more", above=0)
    iterations: int = knob(500, "iterations at most", at_least=1, at_most=10_000)
    collapsed_below: float = knob(1e-3, "a start ends when a variance falls below this", at_least=0)

    def rules(self) -> Iterator[str]:
        if self.size[1] != 2:
            yield f"the data have {self.size[1]} variables; allowed: 2, to be drawn in the plane"
        if self.start:
            yield from place_problems("start", self.start, self.size[1])
            if len(self.start) != self.k:
                yield f"study.start has {len(self.start)} means; study.k={self.k}"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        starts, floor = self._starts(rng), self.collapsed_below
        climb = partial(fit, X, min_eigenvalue=floor, tol=self.tol, max_iter=self.iterations)
        em = climb(starts, snapshots=range(101))
        reached = em.final > np.nanmax(em.final, initial=-np.inf) - 0.1
        # A stated start is shown; of random ones the first that finds the best optimum.
        shown = take(starts, [0 if self.start else int(np.argmax(reached))])
        one = climb(shown, snapshots=range(self.iterations + 1))
        T = int(one.iterations[0]) - int(np.isnan(one.final[0]))  # short of a collapse
        if T < 1:
            raise BadInput("a component collapses in the first iteration; try another study.start")
        thetas = [one.snapshots[t] for t in range(T + 1)]
        path = GaussianMixture(*(np.concatenate(parts) for parts in zip(*thetas, strict=True)))
        joint = log_joint(X, path)  # (T + 1, N, K)
        q, log_evidence = posterior(joint)
        by_kmeans = kmeans(X, random_points(X, self.k, rng, 50))
        ink = [np.cov(X.T, aweights=weights, ddof=0) for weights in q[0].T]
        terms = mean_terms(X, thetas[1])

        points, iteration = of_points(X), axis("iteration", T + 1)
        point, variable = points.axes
        component, other = numbered("component", self.k), numbered("other_variable", 2)
        drawn = axis("snapshot", [0, *sorted(self.snapshots)])
        return Outcome(
            points=points,
            weights=over(path.pi, iteration, component),
            means=over(path.mu, iteration, component, variable),
            covariances=over(path.Sigma, iteration, component, variable, other),
            responsibilities=over(q[np.minimum(drawn.values, T)], drawn, point, component),
            # The moments of the points, weighed by the first E step.
            ink_mean=over((q[0].T @ X) / q[0].sum(axis=0)[:, None], component, variable),
            ink_covariance=over(ink, component, variable, other),
            log_likelihood=iteration.of(log_evidence.sum(axis=1)),
            bound_after_e=iteration.of(free_energy(joint, q)),  # of the E step that follows
            bound_after_m=iteration.of([-np.inf, *free_energy(joint[1:], q[:-1])]),
            mean_derivative=over(  # after the first iteration
                np.stack(list(terms.values())), axis("formula", list(terms)), component, variable
            ),
            largest_derivative_at_end=score(X, thetas[T]).largest[0],
            kmeans_agreement=agreement(
                q[T].argmax(axis=1), by_kmeans.labels[by_kmeans.best], self.k
            ),
            # And the other starts.
            smallest_gain=smallest_gain(em.objective),
            iterations_to_settle=axis("best_start", np.flatnonzero(reached)).of(
                iterations_to_settle(X, em, SETTLED)[reached]
            ),
        )

    def _starts(self, rng: Generator) -> GaussianMixture:
        if not self.start:
            return start_of_gaussians(self.k, self.size[1], rng, self.repetitions)
        moved = self.jitter * rng.standard_normal((self.repetitions, self.k, self.size[1]))
        moved[0] = 0.0
        return start_at(np.array(self.start) + moved, self.variance * np.eye(self.size[1]))
