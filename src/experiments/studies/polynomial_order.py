"""Which polynomial order fits, and which predicts: one data set, all orders (FCML 1.4-1.5, 2.7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.study import Outcome, Series, Study, knob
from models.datasets import load
from models.polynomials import (
    fit_orders,
    kfold_loss,
    log_likelihood,
    loo_loss,
    predict_orders,
    random_folds,
    training_loss,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

METHODS = ("training", "loo", "kfold", "holdout")


@dataclass
class PolynomialOrder(Study):
    """Choose a polynomial's order by leave-one-out, folds or a hold-out set (FCML 1.5)."""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    orders: list[int] = knob(list(range(9)), "orders to compare", at_least=0, at_most=20, distinct=True)
    methods: list[str] = knob(["training", "loo"], "losses to compute", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    holdout_from: float | None = knob(None, "inputs from here on are held out (method holdout)")
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)

    def problems(self) -> "Iterator[str]":
        x, _ = load(self.data).xt
        if "holdout" in self.methods and self.holdout_from is None:
            yield "study.methods has holdout; study.holdout_from=<input> says where it begins"
        elif self.holdout_from is not None:
            held = int(np.sum(x >= self.holdout_from))
            if not 0 < held < len(x) - max(self.orders):
                yield (
                    f"study.holdout_from={self.holdout_from:g} holds out {held} of {len(x)} points;"
                    f" order {max(self.orders)} needs {max(self.orders) + 1} to fit and 1 to test"
                )
        if max(self.orders) >= len(x):
            yield f"study.orders={self.orders}: {self.data} has {len(x)} points; allowed: < {len(x)}"
        if self.folds > len(x):
            yield f"study.folds={self.folds}: {self.data} has {len(x)} points; allowed: <= {len(x)}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        orders = np.array(self.orders)
        fits = fit_orders(x, t, max(self.orders))
        losses = {}
        if "training" in self.methods:
            losses["training"] = training_loss(fits)[orders]
        if "loo" in self.methods:
            losses["loo"] = loo_loss(fits)[orders]
        if "kfold" in self.methods:
            losses["kfold"] = kfold_loss(fits, random_folds(len(x), self.folds, rng))[orders]
        trained = fits
        if self.holdout_from is not None:
            held = x >= self.holdout_from
            trained = fit_orders(x[~held], t[~held], max(self.orders))
            errors = t[held] - predict_orders(trained, x[held])
            losses["holdout_training"] = training_loss(trained)[orders]
            losses["holdout"] = np.mean(errors**2, axis=-1)[orders]
        metrics = {f"{name}_best_order": self.orders[np.argmin(v)] for name, v in losses.items()}
        metrics |= _order_metrics(self.orders, losses, len(x))
        likelihood = log_likelihood(fits)[orders]
        rising = np.argsort(orders)
        metrics["log_likelihood_rises"] = bool(np.all(np.diff(likelihood[rising]) > 0))
        grid = np.linspace(x.min(), max(x.max(), *self.predict_at) if self.predict_at else x.max(), 400)
        arrays = {"grid": grid, "curves": predict_orders(trained, grid)[orders]}
        for place in self.predict_at:
            values = predict_orders(fits, np.array([place]))[orders, 0]
            names = [f"prediction_{place:g}_order_{order}" for order in self.orders]
            metrics |= dict(zip(names, values, strict=True))
        series = {f"{name}_loss": Series(self.orders, v) for name, v in losses.items()}
        series["log_likelihood"] = Series(self.orders, likelihood)
        table = {"order": self.orders, **losses, "log_likelihood": likelihood}
        return Outcome(metrics, series, {"orders": table}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.plotting import panels

        table = outcome.tables["orders"]
        drawn = [name for name in table if name not in ("order", "log_likelihood")]
        figure, axes = panels(1, len(drawn), squeeze=False)
        for ax, name in zip(axes[0], drawn, strict=True):
            ax.plot(table["order"], table[name], marker="o")
            best = int(np.argmin(table[name]))
            ax.plot(table["order"][best], table[name][best], "o", color="C1", zorder=3)
            ax.set(xlabel="polynomial order", ylabel="mean squared loss", title=_TITLES[name])
            if max(table[name]) > 50 * min(table[name]) > 0:
                ax.set_yscale("log")
        return {"loss": figure, "fits": self._draw_fits(outcome)}

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        data = load(self.data)
        (x_name, *_, t_name), (x, t) = data.columns, data.xt
        figure, ax = panels()
        shown = self.orders if len(self.orders) <= 3 else [self.orders[i] for i in (0, len(self.orders) // 2, -1)]
        for order in shown:
            curve = outcome.arrays["curves"][self.orders.index(order)]
            ax.plot(outcome.arrays["grid"], curve, label=f"order {order}")
        ax.plot(x, t, "o", color="black", markersize=4, label="data")
        spread = t.max() - t.min()
        ax.set(xlabel=x_name, ylabel=t_name, ylim=(t.min() - spread / 2, t.max() + spread / 2))
        ax.legend()
        return figure


_TITLES = {
    "training": "training",
    "loo": "leave-one-out",
    "kfold": "folds",
    "holdout_training": "training, without the held-out",
    "holdout": "held-out",
}


def _order_metrics(orders: list[int], losses: dict[str, Floats], n: int) -> dict[str, float | bool]:
    """Per-order values, and the statements the books make about the curves."""
    found: dict[str, float | bool] = {}
    rising = np.argsort(orders)
    for name, values in losses.items():
        found |= {f"{name}_loss_order_{order}": v for order, v in zip(orders, values, strict=True)}
        found[f"{name}_never_rises"] = bool(np.all(np.diff(values[rising]) <= 1e-9))
    if "training" in losses:  # the book's totals: the sum of squared errors, not its mean
        totals = n * losses["training"]
        found |= {f"total_loss_order_{order}": v for order, v in zip(orders, totals, strict=True)}
    return found
