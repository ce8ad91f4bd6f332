"""EM with covariances held at epsilon I turns into K-means (PRML 9.3.2, Ghahramani 2.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, place_problems
from models.clustering.gaussian_mixture import responsibilities
from models.clustering.kmeans import kmeans, random_points
from models.clustering.kmeans_limit import complete_at, fit_held, integral
from models.em import take

STEPS = 200  # EM iterations at most; with covariances held still it needs far fewer


@dataclass
class EmLimits(Clusters, Study):
    """EM with covariances epsilon I against K-means from the same centres, as epsilon falls."""

    headline = {
        "final_difference": "max(last(difference, over='epsilon'))",
        "distortion": "last(distortion)",
    }

    k: int = knob(2, "components", at_least=1, at_most=20)
    start: list[list[float]] = knob([], "the centres; random points if empty", may_be_empty=True)
    variances: list[float] = knob(
        [1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4], "values of epsilon", above=0, distinct=True
    )
    weights: list[list[float]] = knob(
        [], "mixing weights to begin with, one list a run; equal if empty", may_be_empty=True
    )
    fixed_weights: bool = knob(False, "hold the mixing weights where they begin")

    def rules(self) -> Iterator[str]:
        if self.start:
            yield from place_problems("start", self.start, self.size[1])
            if len(self.start) != self.k:
                yield f"study.start has {len(self.start)} centres; study.k={self.k}"
        for weights in self.weights:
            if len(weights) != self.k or min(weights) <= 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.weights: {weights}; allowed: {self.k} numbers > 0 that sum to one"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        N, D = X.shape
        centres = np.array(self.start) if self.start else random_points(X, self.k, rng)[0]
        hard = kmeans(X, centres[None], snapshots=range(STEPS + 1))
        r = (hard.labels[0][:, None] == np.arange(self.k)).astype(float)
        weights = np.array(self.weights or [[1 / self.k] * self.k])
        epsilon = axis("epsilon", np.sort(np.array(self.variances))[::-1])
        both = epsilon, axis("weighting", len(weights))
        soft = fit_held(
            X, centres, epsilon.values, weights, fixed_pi=self.fixed_weights, steps=STEPS
        )
        E, W = len(epsilon), len(weights)
        gamma = responsibilities(X, soft.theta).reshape(E, W, N, self.k)
        pi, mu = soft.theta.pi.reshape(E, W, self.k), soft.theta.mu.reshape(E, W, self.k, D)
        steps = sorted(hard.snapshots)
        aside = [np.abs(soft.snapshots[t].mu[-W] - hard.snapshots[t][0]).max() for t in steps]
        first = take(soft.theta, np.arange(0, E * W, W))  # of the weightings
        complete, constant = complete_at(X, first, hard.centres[0], r)
        J = hard.distortion[0][: 2 * int(hard.iterations[0])]
        return Outcome(
            difference=over(np.abs(mu - hard.centres[0]).max(axis=(2, 3)), *both),
            label_doubt=over((1 - gamma.max(axis=3)).max(axis=2), *both),
            responsibilities_off_labels=over(np.abs(gamma - r).max(axis=(2, 3)), *both),
            weights_off_fractions=over(np.abs(pi - r.mean(axis=0)).max(axis=2), *both),
            path_difference=axis("iteration", steps).of(aside),  # at the smallest epsilon
            distortion=axis("half_step", len(J)).of(J),
            expected_complete=epsilon.of(complete),  # (9.43) at the K-means solution
            constant_terms=epsilon.of(constant),
            density_integral=axis("normaliser", ["printed", "corrected"]).of(
                [integral(0.5, D, power) for power in (1, D)]
            ),
        )
