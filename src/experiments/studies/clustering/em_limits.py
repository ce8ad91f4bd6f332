"""EM with covariances held at epsilon I turns into K-means (PRML 9.3.2, Ghahramani 2.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters, place_problems
from experiments.studies.clustering.kmeans_path import never_rises
from models.clustering.gaussian_mixture import GaussianMixture, fit, log_joint, responsibilities
from models.clustering.gaussian_mixture_starts import start_at
from models.clustering.kmeans import kmeans, random_points
from models.clustering.mixture import expected_complete
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

STEPS = 200  # EM iterations at most; with covariances held still it needs far fewer


@dataclass
class EmLimits(Clusters, Study):
    """EM with covariances epsilon I against K-means from the same centres, as epsilon falls."""

    k: int = knob(2, "components", at_least=1, at_most=20)
    start: list[list[float]] = knob([], "the centres; random points if empty", may_be_empty=True)
    variances: list[float] = knob(
        [1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4], "values of epsilon", above=0, distinct=True
    )
    weights: list[list[float]] = knob(
        [], "mixing weights to begin with, one list a run; equal if empty", may_be_empty=True
    )
    fixed_weights: bool = knob(False, "hold the mixing weights where they begin")

    def rules(self) -> "Iterator[str]":
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
        epsilon = np.sort(np.array(self.variances))[::-1]
        weights = np.array(self.weights or [[1 / self.k] * self.k])
        # Every epsilon with every choice of weights: one batch, (E * W) restarts.
        E, W = len(epsilon), len(weights)
        theta = start_at(
            np.tile(centres, (E * W, 1, 1)),
            np.repeat(epsilon, W)[:, None, None, None] * np.eye(D),
            np.tile(weights, (E, 1)),
        )
        soft = fit(
            X,
            theta,
            covariance="fixed",
            fixed_pi=self.fixed_weights,
            tol=0,
            max_iter=STEPS,
            snapshots=range(STEPS + 1),
        )
        gamma = responsibilities(X, soft.theta)
        r = (hard.labels[0][:, None] == np.arange(self.k)).astype(float)
        away = np.abs(soft.theta.mu - hard.centres[0]).reshape(E, W, -1).max(axis=2)
        softness = (1 - gamma.max(axis=2)).reshape(E, W, N).max(axis=2)
        J = float(hard.final[0])
        # (9.43) at the K-means solution: E[ln p(X, Z)] with r for the responsibilities.
        ended = soft.theta._replace(mu=np.tile(hard.centres[0], (E * W, 1, 1)))
        complete = expected_complete(log_joint(X, ended), r[None]).reshape(E, W)[:, 0]
        constant = _constant(N, D, epsilon, ended.pi.reshape(E, W, -1)[:, 0], r)
        fractions = r.mean(axis=0)
        same = _same_path(hard.snapshots, soft.snapshots, E * W - W)
        sharpest = gamma.reshape(E, W, N, self.k)[-1]
        metrics: dict[str, Scalar] = {
            "final_difference": float(away[-1].max()),
            "becomes_kmeans": bool(away[-1].max() < 1e-9),
            "same_path_as_kmeans": same,
            "responsibilities_become_hard": bool(np.abs(sharpest - r).max() < 1e-9),
            "limit_whatever_the_weights": bool(
                np.ptp(away[-1]) < 1e-9 and np.abs(sharpest - r).max() < 1e-9
            ),
            "difference_falls": bool((np.diff(away.max(axis=1)) <= 1e-12).all()),
            "weights_become_fractions": bool(np.abs(soft.theta.pi[-W:] - fractions).max() < 1e-9),
            "distortion_never_rises": never_rises(hard.distortion),
            "complete_tends_to_minus_half_distortion": bool(
                np.isclose(complete[-1] - constant[-1], -J / 2, rtol=0.01)
            ),
            "scaled_complete_tends_to_minus_half_distortion": bool(
                np.isclose(epsilon[-1] * (complete[-1] - constant[-1]), -J / 2, rtol=1e-6)
            ),
            "scaled_complete_ratio": float(-2 * epsilon[-1] * complete[-1] / J),
            "distortion": J,
            "density_integrates_to_one_as_printed": bool(np.isclose(_integral(0.5, D, 1), 1)),
            "density_integrates_to_one_corrected": bool(np.isclose(_integral(0.5, D, D), 1)),
        }
        table = {
            "variance": epsilon.tolist(),
            "difference": away.max(axis=1).tolist(),
            "softness": softness.max(axis=1).tolist(),
            "scaled_complete": (epsilon * complete).tolist(),
        }
        for i, value in enumerate(epsilon):
            metrics[f"difference_at_{value:g}"] = float(away[i].max())
            metrics[f"softness_at_{value:g}"] = float(softness[i].max())
        return Outcome(
            metrics, tables={"limit": table}, arrays={"difference": away, "J": np.array(J)}
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import legend_below

        table = outcome.tables["limit"]
        figure, axes = panels(1, 2)
        for name, mark, label in (
            ("difference", "o", "largest distance from the K-means centres"),
            ("softness", "s", "largest doubt about a label"),
        ):
            values = np.maximum(table[name], 1e-17)
            axes[0].plot(table["variance"], values, marker=mark, label=label)
        axes[0].set(xscale="log", yscale="log", ylabel="Difference from K-means")
        legend_below(axes[0], 1)
        axes[1].plot(
            table["variance"], table["scaled_complete"], marker="o", label="ε E[ln p(X, Z)]"
        )
        axes[1].axhline(-float(outcome.arrays["J"]) / 2, color="C1", linestyle="--", label="-J / 2")
        axes[1].set(xscale="log", ylabel="Natural log units times ε")
        axes[1].set_ylim(-1.5 * float(outcome.arrays["J"]), 0)
        legend_below(axes[1], 2)
        for ax in axes:
            ax.set_xlabel("Variance ε of the components")
            ax.invert_xaxis()
        return {"limit": figure}


def _constant(N: int, D: int, epsilon: Floats, pi: Floats, r: Floats) -> Floats:
    """What (9.43) calls a constant: the terms without the centres, for each epsilon."""
    counts = (r.sum(axis=0) * np.log(pi)).sum(axis=1)
    return np.asarray(counts - 0.5 * N * D * np.log(2 * np.pi * epsilon))


def _same_path(hard: dict[int, Floats], soft: dict[int, GaussianMixture], restart: int) -> bool:
    """Whether EM with the smallest epsilon visits the same centres as K-means, step for step."""
    return all(np.abs(soft[t].mu[restart] - centres[0]).max() < 1e-9 for t, centres in hard.items())


def _integral(epsilon: float, D: int, power: int) -> float:
    """The integral of (2 pi eps)^(-power/2) exp(-|x|^2 / (2 eps)) over D dimensions, by a sum."""
    x = np.linspace(-10, 10, 2001)
    one = np.exp(-(x**2) / (2 * epsilon)).sum() * (x[1] - x[0])
    return float(one**D / (2 * np.pi * epsilon) ** (power / 2))
