"""EM with covariances held at epsilon I turns into K-means (PRML 9.3.2, Ghahramani 2.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, place_problems
from models.clustering.gaussian_mixture import fit, log_joint, responsibilities
from models.clustering.gaussian_mixture_starts import start_at
from models.clustering.kmeans import kmeans, random_points
from models.clustering.mixture import expected_complete

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
        weights = np.array(self.weights or [[1 / self.k] * self.k])
        epsilon = axis("epsilon", np.sort(np.array(self.variances))[::-1])
        both = epsilon, axis("weighting", len(weights))
        # Every epsilon with every choice of weights: one batch, (E * W) restarts.
        E, W = len(epsilon), len(weights)
        theta = start_at(
            np.tile(centres, (E * W, 1, 1)),
            np.repeat(epsilon.values, W)[:, None, None, None] * np.eye(D),
            np.tile(weights, (E, 1)),
        )
        limit = {"tol": 0.0, "max_iter": STEPS, "snapshots": range(STEPS + 1)}
        soft = fit(X, theta, covariance="fixed", fixed_pi=self.fixed_weights, **limit)  # type: ignore[arg-type]
        gamma = responsibilities(X, soft.theta).reshape(E, W, N, self.k)
        r = (hard.labels[0][:, None] == np.arange(self.k)).astype(float)
        pi, mu = soft.theta.pi.reshape(E, W, self.k), soft.theta.mu.reshape(E, W, self.k, D)
        steps = sorted(hard.snapshots)
        aside = [np.abs(soft.snapshots[t].mu[-W] - hard.snapshots[t][0]).max() for t in steps]
        # (9.43) at the K-means solution: E[ln p(X, Z)] with r for the responsibilities, and the
        # terms of it without the centres.
        ended = soft.theta._replace(mu=np.tile(hard.centres[0], (E * W, 1, 1)))
        complete = expected_complete(log_joint(X, ended), r[None]).reshape(E, W)[:, 0]
        counts = (r.sum(axis=0) * np.log(pi[:, 0])).sum(axis=1)
        J = hard.distortion[0][: 2 * int(hard.iterations[0])]
        return Outcome(
            difference=over(np.abs(mu - hard.centres[0]).max(axis=(2, 3)), *both),
            label_doubt=over((1 - gamma.max(axis=3)).max(axis=2), *both),
            responsibilities_off_labels=over(np.abs(gamma - r).max(axis=(2, 3)), *both),
            weights_off_fractions=over(np.abs(pi - r.mean(axis=0)).max(axis=2), *both),
            path_difference=axis("iteration", steps).of(aside),  # at the smallest epsilon
            distortion=axis("half_step", len(J)).of(J),
            expected_complete=epsilon.of(complete),
            constant_terms=epsilon.of(counts - 0.5 * N * D * np.log(2 * np.pi * epsilon.values)),
            density_integral=axis("normaliser", ["printed", "corrected"]).of(
                [_integral(0.5, D, 1), _integral(0.5, D, D)]
            ),
        )


def _integral(epsilon: float, D: int, power: int) -> float:
    """The integral of (2 pi eps)^(-power/2) exp(-|x|^2 / (2 eps)) over D dimensions, by a sum."""
    x = np.linspace(-10, 10, 2001)
    one = np.exp(-(x**2) / (2 * epsilon)).sum() * (x[1] - x[0])
    return float(one**D / (2 * np.pi * epsilon) ** (power / 2))
