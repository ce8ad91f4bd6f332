"""How many neighbours should vote, by repeated cross-validation (FCML 5.3.1.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.drawing.classes import scatter
from experiments.studies.classification.knn_boundary import TwoClouds
from models.classification.knn import fold_errors, random_partitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class KnnCrossValidation(TwoClouds, Study):
    """Cross-validation error of K nearest neighbours against K (FCML Figure 5.11)."""

    ks: list[int] = knob(
        list(range(1, 30, 2)), "neighbours that vote, ascending", at_least=1, distinct=True
    )
    folds: int = knob(10, "folds of a partition", at_least=2)
    partitions: int = knob(100, "random partitions of each set", at_least=1, at_most=10_000)
    repetitions: int = knob(40, "sets of points; the first is drawn", at_least=1, at_most=1000)
    bump_at: int | None = knob(None, "a K at which to look for a local rise", at_least=1)

    def rules(self) -> "Iterator[str]":
        n = sum(self.sizes)
        if self.folds > n or max(self.ks) > n - -(-n // self.folds):
            yield f"study.folds={self.folds}, ks up to {max(self.ks)}: too many for {n} points"
        if self.ks != sorted(self.ks):
            yield f"study.ks={self.ks}; allowed: ascending"
        if self.bump_at is not None and self.bump_at not in self.ks[1:-1]:
            yield f"study.bump_at={self.bump_at}; allowed: one of ks, neither first nor last"

    def run(self, rng: Generator) -> Outcome:
        X, t = self.clouds(self.repetitions, rng)
        curves = np.stack(
            [
                fold_errors(
                    points, t, self.ks, random_partitions(len(t), self.folds, self.partitions, rng)
                ).mean(0)
                for points in X
            ]
        )  # (R, len(ks))
        ks = np.array(self.ks)
        best = ks[curves.argmin(1)]
        metrics: dict[str, Any] = {
            "errors_averaged": self.folds * self.partitions,
            "best_k": int(best[0]),
            "mean_curve_best_k": int(ks[curves.mean(0).argmin()]),
            "share_falls_then_rises": float(
                ((curves.min(1) < curves[:, 0]) & (curves.min(1) < curves[:, -1])).mean()
            ),
            "least_error": float(curves[0].min()),
        }
        arrays: dict[str, Any] = {"X": X[0], "t": t, "curves": curves, "best_k": best}
        if self.bump_at is not None:
            i = self.ks.index(self.bump_at)
            higher = (curves[:, i] > curves[:, i - 1]) & (curves[:, i] > curves[:, i + 1])
            arrays[f"bump_at_{self.bump_at}"] = higher.astype(float)
        return Outcome(
            metrics, series={"error": Series(self.ks, curves[0].tolist())}, arrays=arrays
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels
        from experiments.drawing.clusters import whole_steps

        a = outcome.arrays
        figure, axes = panels(1, 2)
        scatter(axes[0], a["X"], a["t"], ["class 0", "class 1"])
        low, high = np.quantile(a["curves"], [0.1, 0.9], axis=0)
        axes[1].fill_between(
            self.ks, 100 * low, 100 * high, color="0.85", label="80 % of such sets"
        )
        steps, error = outcome.series["error"]
        axes[1].plot(steps, 100 * np.array(error), "o-", label="these points")
        axes[1].plot(steps, 100 * a["curves"].mean(0), "--", label="mean of such sets")
        axes[1].set(xlabel="Neighbours K", ylabel="Cross-validation error (%)", ylim=(0, None))
        whole_steps(axes[1])
        figure.legend(loc="outside lower center", ncols=5)
        return {"error": figure}
