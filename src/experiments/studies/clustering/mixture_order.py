"""How many components, and which covariances: training and held-out likelihood (FCML 6.3.6-7)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.clustering.cluster_data import Clusters
from models.clustering.gaussian_mixture import (
    Covariance,
    GaussianMixture,
    log_density,
    responsibilities,
)
from models.clustering.gaussian_mixture_starts import start_at_points
from models.clustering.gaussian_mixture_variants import fit_with_floor
from models.em import EMFit, take
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

COVARIANCES = {"full": "any", "diagonal": "diagonal", "spherical": "isotropic"}


@dataclass
class MixtureOrder(Clusters, Study):
    """Log likelihood of Gaussian mixtures on the data they were fitted to, and on held-out data."""

    k: list[int] = knob([1, 2, 3, 4, 5], "numbers of components", at_least=1, at_most=20)
    covariances: list[str] = knob(
        ["full"], "kinds of covariance", choices=tuple(COVARIANCES), distinct=True
    )
    folds: int = knob(0, "parts for cross-validation; 0 for none", at_least=0, at_most=100)
    repetitions: int = knob(1, "random cuts into parts", at_least=1, at_most=1000)
    restarts: int = knob(10, "starts of each fit; the best is kept", at_least=1, at_most=1000)
    iterations: int = knob(200, "iterations at most", at_least=1, at_most=10_000)
    floor: float = knob(0.01, "the least variance of a component in any direction", above=0)

    dimensions: int = knob(10, "count a covariance's parameters in so many", at_least=1, at_most=99)

    def rules(self) -> "Iterator[str]":
        if self.folds == 1 or self.folds > self.size[0]:
            yield f"study.folds={self.folds}; allowed: 0, or 2 to {self.size[0]} parts"
        if sorted(set(self.k)) != self.k:
            yield f"study.k={self.k}; allowed: rising numbers"

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        metrics: dict[str, Scalar] = {}
        series, arrays = {}, {"X": X}
        training: dict[str, list[float]] = {}
        for kind in self.covariances:
            fits = [self._fit(X, k, kind, rng) for k in self.k]
            L = [float(em.final[em.best]) for em in fits]
            training[kind] = L
            series[f"training_{kind}"] = Series(self.k, L)
            metrics[f"training_rises_with_k_{kind}"] = all(a < b for a, b in pairwise(L))
            metrics |= {f"log_likelihood_{kind}_k{k}": v for k, v in zip(self.k, L, strict=True)}
            last = take(fits[-1].theta, [fits[-1].best])
            arrays |= {f"mu_{kind}": last.mu[0], f"Sigma_{kind}": last.Sigma[0]}
            arrays[f"gamma_{kind}"] = responsibilities(X, last)[0]
            if kind == self.covariances[0] and 3 in self.k:
                three = fits[self.k.index(3)]
                groups = responsibilities(X, three.theta)[three.best].argmax(axis=1)
                own = responsibilities(X, last)[0].argmax(axis=1)
                parts = [len(np.unique(own[groups == g])) for g in np.unique(groups)]
                metrics["fewest_components_in_a_group"] = min(parts)
            if self.folds:
                held = self._held_out(X, kind, rng)  # (repetitions, K, folds)
                mean = held.mean(axis=(0, 2))
                chosen = np.array(self.k)[held.mean(axis=2).argmax(axis=1)]
                best = int(mean.argmax())
                within = mean >= mean[best] - held[:, best].std()
                metrics |= {
                    f"best_k_{kind}": self.k[best],
                    f"within_one_sd_{kind}": int(within.sum()),
                    f"no_clear_winner_{kind}": bool(within.sum() > 1),
                }
                series[f"held_out_{kind}"] = Series(self.k, mean.tolist())
                arrays |= {f"held_out_{kind}": held, f"chosen_{kind}": chosen}
        metrics |= _order_of_kinds(training, self.covariances)
        metrics["covariance_parameters"] = len(np.tril_indices(self.dimensions)[0])
        return Outcome(metrics, series=series, arrays=arrays)

    def _fit(self, X: Floats, k: int, kind: str, rng: Generator) -> EMFit[GaussianMixture]:
        return fit_with_floor(
            X,
            start_at_points(X, k, rng, self.restarts),
            self.floor,
            covariance=cast("Covariance", kind),
            tol=1e-3,
            max_iter=self.iterations,
        )

    def _held_out(self, X: Floats, kind: str, rng: Generator) -> Floats:
        """Mean log density of the held-out points, shape (repetitions, K, folds)."""
        out = np.empty((self.repetitions, len(self.k), self.folds))
        for r in range(self.repetitions):
            part = rng.permutation(np.arange(len(X)) % self.folds)
            for f in range(self.folds):
                rest, held = X[part != f], X[part == f]
                for i, k in enumerate(self.k):
                    em = self._fit(rest, k, kind, rng)
                    out[r, i, f] = log_density(held, take(em.theta, [em.best])).mean()
        return out

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"training": self._draw_training(outcome)}
        return ({"held-out": self._draw_held_out(outcome)} if self.folds else {}) | figures

    def _draw_training(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.clusters import SYMBOLS, grid, mixture_panel, whole_steps

        flat = self.size[1] == 2
        figure, axes = grid(1, 1 + flat, 0.75)
        ax = axes[0, 0]
        for i, kind in enumerate(self.covariances):
            name = COVARIANCES[kind]
            ax.plot(*outcome.series[f"training_{kind}"], marker=SYMBOLS[i], label=name)
        ax.set(xlabel="Number of components K", ylabel="Log likelihood")
        whole_steps(ax)
        if len(self.covariances) > 1:
            ax.legend(title="Covariances")
        if flat:
            kind = self.covariances[0]
            fields = (outcome.arrays[f"{name}_{kind}"] for name in ("gamma", "mu", "Sigma"))
            gamma, mu, Sigma = fields
            few = gamma if gamma.shape[1] <= 8 else None
            mixture_panel(axes[0, 1], outcome.arrays["X"], few, mu, Sigma)
            axes[0, 1].set(xlabel=self.labels()[0], ylabel=self.labels()[1])
            axes[0, 1].set_title(f"The fit with K = {self.k[-1]}")
        return figure

    def _draw_held_out(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import SYMBOLS, whole_steps

        figure, ax = panels()
        for i, kind in enumerate(self.covariances):
            held = outcome.arrays[f"held_out_{kind}"]
            spread = held.mean(axis=0).std(axis=1)
            shift = 0.12 * i
            places = np.array(self.k) + shift
            mark = {"marker": SYMBOLS[i], "capsize": 3, "label": COVARIANCES[kind]}
            ax.errorbar(places, held.mean(axis=(0, 2)), spread, **mark)
        ax.set(xlabel="Number of components K", ylabel="Held-out log likelihood per object")
        whole_steps(ax)
        if len(self.covariances) > 1:
            ax.legend(title="Covariances")
        return figure


def _order_of_kinds(training: dict[str, list[float]], kinds: list[str]) -> dict[str, Scalar]:
    """Whether the richer of two kinds of covariance fits the training data better at every K."""
    order = [kind for kind in COVARIANCES if kind in kinds]
    found: dict[str, Scalar] = {}
    for rich, poor in pairwise(order):
        pairs = zip(training[rich], training[poor], strict=True)
        found[f"{rich}_fits_no_worse_than_{poor}"] = all(a >= b - 1e-3 for a, b in pairs)
    return found
