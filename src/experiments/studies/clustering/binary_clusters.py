"""Clusters of binary data: mixtures of Bernoulli products by EM, with and without a prior.

FCML 6.3.7 and 6.3.8.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.clustering.mixture_path import agreement, never_falls
from models.clustering.bernoulli_mixture import (
    BernoulliMixture,
    Prior,
    Statistics,
    e_step,
    fit,
    m_step,
    responsibilities,
    start_at_random,
)
from models.types import Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class BinaryClusters(Study):
    """Draw binary data from some clusters and find them again, with and without beta priors."""

    n: int = knob(100, "objects", at_least=2, at_most=100_000)
    dimensions: int = knob(10, "binary variables", at_least=1, at_most=1000)
    k: int = knob(5, "clusters, of the data and of the mixture", at_least=2, at_most=8)
    priors: list[float] = knob([1.0], "alpha = beta of the prior; 1 is none", at_least=1)
    draws: int = knob(20, "data sets", at_least=1, at_most=1000)
    restarts: int = knob(5, "starts for each; the best is kept", at_least=1, at_most=1000)

    def problems(self) -> "Iterator[str]":
        if sorted(set(self.priors)) != self.priors:
            yield f"study.priors={self.priors}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        shown: dict[str, Floats | Ints] = {}
        rows = {
            name: {prior: np.zeros(self.draws) for prior in self.priors}
            for name in ("pinned", "spread", "agreement", "iterations")
        }
        constant = np.zeros(self.draws, dtype=np.int64)
        falls = dict.fromkeys(self.priors, False)
        for i in range(self.draws):
            p = rng.random((self.k, self.dimensions))
            truth = rng.integers(self.k, size=self.n)
            X = (rng.random((self.n, self.dimensions)) < p[truth]).astype(float)
            start = start_at_random(self.dimensions, self.k, rng, self.restarts, low=0, high=1)
            for prior in self.priors:
                em = fit(X, start, prior=_prior(prior), tol=1e-6, max_iter=2000)
                falls[prior] |= not never_falls(em.objective)
                labels = responsibilities(X, em.theta)[em.best].argmax(axis=1)
                mu = em.theta.mu[em.best]
                rows["pinned"][prior][i] = np.mean((mu < 1e-6) | (mu > 1 - 1e-6))
                rows["spread"][prior][i] = np.ptp(em.final)
                rows["agreement"][prior][i] = agreement(labels, truth, self.k)
                rows["iterations"][prior][i] = em.iterations[em.best]
                if prior == self.priors[0]:
                    constant[i] = _most_constant(X, labels, self.k)
                    if i == 0:
                        shown = {"X": X, "labels": labels, "mu": mu}
        metrics: dict[str, Scalar] = {"n_objects": self.n, "n_variables": self.dimensions}
        for prior in self.priors:
            name = f"prior_{prior:g}"
            metrics[f"objective_never_falls_{name}"] = not falls[prior]
            for row in ("pinned", "spread", "agreement", "iterations"):
                metrics[f"mean_{row}_{name}"] = float(rows[row][prior].mean())
            metrics[f"never_pinned_{name}"] = bool((rows["pinned"][prior] == 0).all())
        metrics |= self._update_checks(np.asarray(shown["X"], dtype=np.float64), rng)
        return Outcome(metrics, arrays={**shown, "most_constant": constant})

    def _update_checks(self, X: Floats, rng: Generator) -> dict[str, Scalar]:
        """The update of the text: its flat case, and the least and greatest values it can take."""
        start = start_at_random(self.dimensions, self.k, rng)
        q, _ = e_step(X, start)
        flat, plain = m_step(start, q, Prior(1.0, 1.0)), m_step(start, q)
        found: dict[str, Scalar] = {
            "flat_prior_change": float(np.abs(flat.mu - plain.mu).max()),
            "flat_prior_changes_nothing": bool((flat.mu == plain.mu).all()),
        }
        alpha = max(self.priors)
        if alpha > 1:
            # All objects in the first cluster, first variable always 0, second always 1.
            N, none = np.array([[float(self.n)]]), np.zeros((1, 1, 2))
            ones = np.array([[[0.0, self.n]]])
            extreme = m_step(
                BernoulliMixture(np.ones((1, 1)), none + 0.5),
                Statistics(N, ones, self.n - ones),
                Prior(alpha, alpha),
            ).mu[0, 0]
            low = (alpha - 1) / (2 * alpha - 2)
            high = (alpha - 1 + self.n) / (2 * alpha - 2 + self.n)
            right = (alpha - 1) / (2 * alpha - 2 + self.n)
            found |= {
                "smallest_p": float(extreme[0]),
                "largest_p": float(extreme[1]),
                "printed_minimum_is_attained": bool(np.isclose(extreme[0], low, rtol=1e-12)),
                "printed_maximum_is_attained": bool(np.isclose(extreme[1], high, rtol=1e-12)),
                "corrected_minimum_is_attained": bool(np.isclose(extreme[0], right, rtol=1e-12)),
            }
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid

        X, labels = outcome.arrays["X"], outcome.arrays["labels"]
        order = np.argsort(labels, kind="stable")
        figure, axes = grid(1, 2, 1.1)
        ticks = range(0, self.dimensions, max(1, self.dimensions // 10))
        for ax, rows, title in zip(
            axes[0], (X, X[order]), ("Objects as drawn", "Objects by cluster"), strict=True
        ):
            ax.imshow(rows, aspect="auto", cmap="Greys", interpolation="nearest", vmax=1.25)
            ax.set_xticks(ticks, [str(i + 1) for i in ticks])
            ax.set(xlabel="Variable", title=title)
            ax.grid(visible=False)
        for edge in np.cumsum(np.bincount(labels, minlength=self.k))[:-1]:
            axes[0, 1].axhline(edge - 0.5, color="C1")
        axes[0, 0].set_ylabel("Object (black is 1)")
        return {"clusters": figure}


def _prior(alpha: float) -> Prior | None:
    return None if alpha == 1 else Prior(alpha, alpha)


def _most_constant(X: Floats, labels: Ints, k: int) -> int:
    """The most variables that have one value throughout a cluster of five objects or more."""
    counts = [0]
    for j in range(k):
        members = X[labels == j]
        if len(members) >= 5:
            counts.append(int((members == members[0]).all(axis=0).sum()))
    return max(counts)
