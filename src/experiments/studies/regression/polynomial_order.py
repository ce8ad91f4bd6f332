"""Which polynomial order fits, and which predicts: one data set, all orders (FCML 1.4-1.5, 2.7)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies._curves import CurveOrData
from models.datasets import load
from models.regression import polynomials
from models.regression.polynomials import fit_orders, predict_orders, training_loss
from models.types import Bools, Floats

METHODS = ("training", "loo", "kfold", "holdout", "likelihood", "weights", "refits")


@dataclass
class PolynomialOrder(CurveOrData, Study):
    """Compare polynomial orders on the data they are fitted to and on data held out (FCML 1.5)."""

    headline = {
        "loo_best_order": "argmin(loo_loss)",
        "kfold_best_order": "argmin(kfold_loss)",
        "holdout_best_order": "argmin(holdout_loss)",
    }

    data: str | None = knob("olympics-100m-men", "the data; null: drawn", dataset="regression")
    orders: list[int] = knob(list(range(9)), "to compare", at_least=0, at_most=20, distinct=True)
    methods: list[str] = knob(["training", "loo"], "to compare by", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    holdout_from: float | None = knob(None, "inputs from here on are held out (method holdout)")
    fold_counts: list[int] = knob([5, 10], "for the method refits", at_least=2, distinct=True)
    partitions: int = knob(20, "into each count of folds", at_least=2, at_most=1000)
    curves: list[int] = knob([], "orders whose fits are drawn", may_be_empty=True, distinct=True)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        x = self.grid(self.n) if self.data is None else load(self.data).xt[0]
        top, inputs = max(self.orders), len(np.unique(x))
        if top >= inputs:
            name = self.data or "the draw"
            yield f"study.orders={self.orders}: {name} has {inputs} inputs; allowed: below"
        if "holdout" in self.methods:
            if self.holdout_from is None or self.data is None:
                yield "study.methods has holdout: study.holdout_from=<input> of study.data=<name>"
            elif len(np.unique(x[x < self.holdout_from])) <= top or x.max() < self.holdout_from:
                held = int(np.sum(x >= self.holdout_from))
                yield (
                    f"study.holdout_from={self.holdout_from:g} holds out {held} of {len(x)} points;"
                    f" order {top} needs {top + 1} to fit and 1 to test"
                )
        for name, method in (("folds", "kfold"), ("fold_counts", "refits")):
            counts = np.ravel(getattr(self, name))
            largest = -(-len(x) // min(counts))
            if method in self.methods and (max(counts) > len(x) or inputs - largest <= top):
                yield f"study.{name} of {len(x)} points leave too few to fit order {top}"
        strangers = [order for order in self.curves if order not in self.orders]
        if strangers:
            yield f"study.curves: order {strangers[0]} is not among study.orders={self.orders}"

    def run(self, rng: Generator) -> Outcome:
        x, t = (part[0] for part in self.sets(rng))
        order, point = axis("order", sorted(self.orders)), axis("point", len(x))
        fits = trained = fit_orders(x, t, max(self.orders))  # one QR for all orders
        found: dict[str, Floats] = {}
        quantities: dict[str, Quantity] = {}
        if "training" in self.methods:
            found["training_loss"] = training_loss(fits)
            found["total_loss"] = len(x) * training_loss(fits)  # what FCML 1.4 prints
        if "loo" in self.methods:
            found["loo_loss"] = polynomials.loo_loss(fits)
        if "kfold" in self.methods:
            folds = polynomials.random_folds(len(x), self.folds, rng)
            found["kfold_loss"] = polynomials.kfold_loss(fits, folds)
        if "holdout" in self.methods:
            held = self.held_out(x)
            trained = fit_orders(x[~held], t[~held], max(self.orders))
            found["holdout_training_loss"] = training_loss(trained)
            found["holdout_loss"] = polynomials.loss_at(trained, x[held], t[held])
            errors = t[held] - predict_orders(trained, x[held])[order.values]
            later = axis("held_out", np.flatnonzero(held))  # the points, by their number
            quantities["held_out_error"] = over(errors, order, later)
        if "likelihood" in self.methods:
            found["log_likelihood"] = polynomials.log_likelihood(fits)
        quantities |= {name: order.of(values[order.values]) for name, values in found.items()}
        if "weights" in self.methods:
            weights = np.zeros((len(order), max(self.orders) + 1))  # of 1, x, x^2, ...
            for row, k in zip(weights, order.values, strict=True):
                row[: k + 1] = polynomials.monomial_weights(trained, k)
            quantities["weight"] = over(weights, order, axis("term", weights.shape[1]))
        if "refits" in self.methods:
            quantities |= self._refits(x, t, rng)
        if self.predict_at:
            predicted = predict_orders(trained, np.array(self.predict_at))[order.values]
            quantities["prediction"] = over(predicted, order, axis("input", self.predict_at))
        if self.curves:
            margin = np.ptp(x) / 14  # eight years beyond the Olympic data
            ends = [x.min() - margin, x.max() + margin, *self.predict_at]
            grid = axis("x", np.linspace(min(ends), max(ends), 400))
            curves = predict_orders(trained, grid.values)[self.curves]
            quantities["curve"] = over(curves, axis("drawn_order", self.curves), grid)
        return Outcome(inputs=point.of(x), targets=point.of(t), **quantities)

    def _refits(self, x: Floats, t: Floats, rng: Generator) -> dict[str, Quantity]:
        """The highest order's loss without the shortcut: what it takes, and over partitions."""
        top, n, partition = max(self.orders), len(x), axis("partition", self.partitions)
        folds = axis("folds", np.unique([*self.fold_counts, n]))
        whole = fit_orders(x, t, top)
        losses, shortcut, fits, points = np.empty((4, len(folds), len(partition)))
        for place in np.ndindex(losses.shape):
            parts = polynomials.random_folds(n, int(folds.values[place[0]]), rng)
            losses[place], fits[place], points[place] = polynomials.refit_folds(x, t, top, parts)
            shortcut[place] = polynomials.kfold_loss(whole, parts)[-1]
        return {
            "refitted_loss": over(losses, folds, partition),
            "shortcut_loss": over(shortcut, folds, partition),  # from one fit to all points
            "fits": folds.of(fits.mean(-1)),
            "points_fitted": folds.of(points.mean(-1)),
        }

    def held_out(self, x: Floats) -> Bools:
        start = self.holdout_from if "holdout" in self.methods else None
        return x >= (np.inf if start is None else start)
