"""A mixture of Bernoullis whose components begin equal: EM stops at once (PRML Exercise 9.13)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from models.clustering.bernoulli_mixture import BernoulliMixture, fit, start_at_random

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class IdenticalStart(Study):
    """EM from K equal components against EM from random ones, on binary data of K groups."""

    n: int = knob(300, "data points", at_least=2, at_most=100_000)
    variables: int = knob(20, "binary variables", at_least=1, at_most=1000)
    weights: list[list[float]] = knob(
        [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]], "mixing weights to begin with, one list a run"
    )
    restarts: int = knob(50, "random starts to compare with", at_least=1, at_most=10_000)

    def problems(self) -> "Iterator[str]":
        for weights in self.weights:
            if len(weights) != self.k or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
                yield f"study.weights: {weights}; allowed: {self.k} numbers >= 0 that sum to one"

    @property
    def k(self) -> int:
        """Components."""
        return len(self.weights[0])

    def run(self, rng: Generator) -> Outcome:
        groups = rng.uniform(0.05, 0.95, (self.k, self.variables))
        which = rng.integers(self.k, size=self.n)
        X = (rng.random((self.n, self.variables)) < groups[which]).astype(float)
        average = X.mean(axis=0)
        pi = np.array(self.weights)
        same = np.broadcast_to(
            rng.uniform(0.25, 0.75, self.variables), (len(pi), self.k, self.variables)
        )
        steps = (1, 2, 50)
        em = fit(X, BernoulliMixture(pi, same), tol=-np.inf, max_iter=50, snapshots=steps)
        away = [np.abs(em.snapshots[t].mu - average).max(axis=(1, 2)) for t in steps]  # (3, W)
        random = fit(
            X, start_at_random(self.variables, self.k, rng, self.restarts), tol=1e-12, max_iter=5000
        )
        model_mean = np.einsum("rk,rkd->rd", random.theta.pi, random.theta.mu)
        L, best = em.objective, float(random.final[random.best])
        metrics: dict[str, Scalar] = {
            "distance_after_one": float(away[0].max()),
            "at_average_after_one": bool(away[0].max() < 1e-12),
            "second_iteration_changes_nothing": bool(away[1].max() < 1e-12),
            "weights_stay": bool(np.abs(em.snapshots[2].pi - pi).max() < 1e-12),
            "drift_after_50": float(away[2].max()),  # rounding errors grow at a saddle point
            "model_mean_is_average": bool(np.abs(model_mean - average).max() < 1e-8),
            "identical_log_likelihood": float(L[0, -1]),
            "best_log_likelihood": best,
            "random_starts_do_better": bool(random.final.min() > L[0, -1]),
        }
        return Outcome(
            metrics,
            arrays={"identical": L, "random": random.objective, "average": average},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS, legend_below

        figure, ax = panels()
        shown = 50
        ax.plot(outcome.arrays["random"].T[: shown + 1], color="C0", alpha=0.25, linewidth=1)
        ax.plot([], [], color="C0", label="random starts")
        for i, curve in enumerate(outcome.arrays["identical"]):
            weights = ", ".join(f"{w:.2g}" for w in self.weights[i])
            label = f"equal, weights {weights}"
            ax.plot(curve[: shown + 1], marker=SYMBOLS[i % 8], color=f"C{i + 1}", label=label)
        ax.set(xlabel="Iteration", ylabel="Log likelihood", xlim=(0, shown))
        legend_below(ax, 2)
        return {"objective": figure}
