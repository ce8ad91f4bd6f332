"""What cross-validation costs, and what repeating it is good for (FCML 1.5.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import NoisyCubic
from models.regression.curves import powers
from models.regression.linear import least_squares
from models.regression.polynomials import fit_orders, kfold_loss, random_folds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class CrossValidationCost(NoisyCubic, Study):
    """Fits that K-fold cross-validation takes, and its loss over partitions (FCML 1.5.3)."""

    order: int = knob(3, "order of the fitted polynomial", at_least=0, at_most=20)
    folds: list[int] = knob(
        [5, 10], "numbers of folds, besides leave-one-out", at_least=2, distinct=True
    )
    partitions: int = knob(20, "random partitions into folds", at_least=2, at_most=1000)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if max(self.folds) >= self.n:
            yield f"study.folds={self.folds}: {self.n} points; allowed: < {self.n}"
        left = self.n - -(-self.n // min(self.folds))
        if self.order >= left:
            yield f"study.order={self.order}: fits to {left} points; allowed: < {left}"

    def run(self, rng: Generator) -> Outcome:
        x, t = (part[0] for part in self.sample(rng, 1))
        Phi = powers(x, self.order)
        closed, tiny = fit_orders(x, t, self.order), 1e-12 * t.var()
        counts = [*sorted(self.folds), self.n]
        losses = np.empty((len(counts), self.partitions))
        fits, trained_on, shortcut = dict.fromkeys(counts, 0), dict.fromkeys(counts, 0), 0.0
        for i, k in enumerate(counts):
            for j in range(self.partitions):
                folds, total = random_folds(self.n, k, rng), 0.0
                for fold in folds:
                    rest = np.setdiff1d(np.arange(self.n), fold)
                    w = least_squares(Phi[rest], t[rest]).w
                    total += float(np.sum((t[fold] - Phi[fold] @ w) ** 2))
                    fits[k] += 1
                    trained_on[k] += len(rest)
                losses[i, j] = total / self.n
                once = kfold_loss(closed, folds)[self.order]
                shortcut = max(shortcut, abs(float(once) - losses[i, j]) / (losses[i, j] + tiny))
        spread = losses.std(axis=-1) / (losses.mean(axis=-1) + tiny)
        table = {
            "folds": counts,
            "fits": [fits[k] // self.partitions for k in counts],
            "points_trained_on": [trained_on[k] / self.partitions / self.n for k in counts],
            "loss": losses.mean(axis=-1),
            "relative_spread": spread,
        }
        metrics: dict[str, Any] = {
            "loo_fits_as_often_as_points": table["fits"][-1] == self.n,
            "loo_cost": table["points_trained_on"][-1],  # in units of one fit to all points
            "repeating_loo_changes_it": bool(spread[-1] > 1e-9),
            "repeating_folds_changes_it": bool(np.all(spread[:-1] > 1e-9)),
            "shortcut_is_exact": shortcut < 1e-8,
        }
        for k, count, cost in zip(counts, table["fits"], table["points_trained_on"], strict=True):
            metrics |= {
                f"fits_{k}_folds": count,
                f"cost_{k}_folds": cost,
                f"percent_left_out_{k}_folds": 100 / k,
            }
        return Outcome(
            metrics, {"fits": Series(counts, table["fits"])}, {"folds": table}, {"losses": losses}
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["folds"]
        names = [f"{k}" for k in table["folds"][:-1]] + [f"{self.n}\n(leave-one-out)"]
        figure, (left, right) = panels(1, 2)
        left.bar(names, table["fits"], color="C0")
        left.set(xlabel="folds", ylabel="fits for one loss")
        look = {"whis": (0, 100), "widths": 0.4, "medianprops": {"color": "C1"}}
        right.boxplot(outcome.arrays["losses"].T, tick_labels=names, **look)
        right.set(xlabel="folds", ylabel="squared loss, over partitions")
        return {"cost": figure}
