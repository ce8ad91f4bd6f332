"""A mixture of Bernoullis whose components begin equal: EM stops at once (PRML Exercise 9.13)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import numbered
from models.clustering.bernoulli_mixture import BernoulliMixture, fit, start_at_random

SHOWN = 50  # iterations


@dataclass
class IdenticalStart(Study):
    """EM from K equal components against EM from random ones, on binary data of K groups."""

    headline = {"best_log_likelihood": "max(random_final_log_likelihood)"}

    n: int = knob(300, "data points", at_least=2, at_most=100_000)
    variables: int = knob(20, "binary variables", at_least=1, at_most=1000)
    weights: list[list[float]] = knob(
        [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]], "mixing weights to begin with, one list a run"
    )
    restarts: int = knob(50, "random starts to compare with", at_least=1, at_most=10_000)

    def problems(self) -> Iterator[str]:
        for weights in self.weights:
            if len(weights) != self.k or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.weights: {weights}; allowed: {self.k} numbers >= 0 that sum to one"

    @property
    def k(self) -> int:
        """Components."""
        return len(self.weights[0])

    def run(self, rng: Generator) -> Outcome:
        D, pi = self.variables, np.array(self.weights)
        groups = rng.uniform(0.05, 0.95, (self.k, D))
        which = rng.integers(self.k, size=self.n)
        X = (rng.random((self.n, D)) < groups[which]).astype(float)
        average = X.mean(axis=0)
        same = np.broadcast_to(rng.uniform(0.25, 0.75, D), (len(pi), self.k, D))
        steps = range(SHOWN + 1)
        em = fit(X, BernoulliMixture(pi, same), tol=-np.inf, max_iter=SHOWN, snapshots=steps)
        away = [np.abs(em.snapshots[t].mu - average).max(axis=(1, 2)) for t in steps]
        moved = [np.abs(em.snapshots[t].pi - pi).max(axis=1) for t in steps]
        begins = start_at_random(D, self.k, rng, self.restarts)
        random = fit(X, begins, tol=1e-12, max_iter=5000)
        model_mean = np.einsum("rk,rkd->rd", random.theta.pi, random.theta.mu)  # (9.83)
        ways = np.pad(random.objective, ((0, 0), (0, SHOWN)), constant_values=np.nan)

        iteration, run = axis("iteration", list(steps)), numbered("run", len(pi))
        restart = axis("restart", self.restarts)
        return Outcome(
            average=numbered("variable", D).of(average),
            distance_to_average=over(away, iteration, run),
            change_of_weights=over(moved, iteration, run),
            log_likelihood=over(em.objective, run, iteration),
            random_log_likelihood=over(ways[:, : SHOWN + 1], restart, iteration),
            random_final_log_likelihood=restart.of(random.final),
            model_mean_error=restart.of(np.abs(model_mean - average).max(axis=1)),
        )
