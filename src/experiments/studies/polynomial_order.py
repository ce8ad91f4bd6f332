"""Which polynomial order fits, and which predicts: one data set, all orders (FCML 1.4-1.5, 2.7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.outcome import Scalar
from experiments.studies.axes import axis_names
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
from models.types import Bools, Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

# What each method computes for every order, and how the panels of its figure are headed.
METHODS = {
    "training": {"training_loss": "Training"},
    "loo": {"loo_loss": "Leave-one-out"},
    "kfold": {"kfold_loss": "Held-out folds"},
    "holdout": {"holdout_training_loss": "Training part", "holdout_loss": "Held-out part"},
    "likelihood": {"log_likelihood": "Maximised log likelihood"},
}
CHOOSING = ("loo", "kfold", "holdout")  # the methods that choose an order


@dataclass
class PolynomialOrder(Study):
    """Compare polynomial orders on the data they are fitted to and on data held out (FCML 1.5)."""

    data: str = knob("olympics-100m-men", "the regression data", dataset=True)
    orders: list[int] = knob(
        list(range(9)), "orders to compare", at_least=0, at_most=20, distinct=True
    )
    methods: list[str] = knob(
        ["training", "loo"], "what to compare them by", choices=tuple(METHODS), distinct=True
    )
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    holdout_from: float | None = knob(None, "inputs from here on are held out (method holdout)")
    reject_from: int | None = knob(None, "is every order from here on worse than all below?")
    curves: list[int] = knob([], "orders whose fits are drawn", may_be_empty=True, distinct=True)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)

    def problems(self) -> "Iterator[str]":
        x, _ = load(self.data).xt
        top, inputs = max(self.orders), len(np.unique(x))
        if top >= inputs:
            yield f"study.orders={self.orders}: {self.data} has {inputs} inputs; allowed: below"
        if "holdout" in self.methods:
            if self.holdout_from is None:
                yield "study.methods has holdout; study.holdout_from=<input> says where it begins"
            elif len(np.unique(x[x < self.holdout_from])) <= top or x.max() < self.holdout_from:
                held = int(np.sum(x >= self.holdout_from))
                yield (
                    f"study.holdout_from={self.holdout_from:g} holds out {held} of {len(x)} points;"
                    f" order {top} needs {top + 1} to fit and 1 to test"
                )
        largest = -(-len(x) // self.folds)
        if "kfold" in self.methods and (self.folds > len(x) or inputs - largest <= top):
            yield f"study.folds={self.folds} of {len(x)} points leave too few to fit order {top}"
        below = [order for order in self.orders if order < (self.reject_from or 0)]
        if self.reject_from is not None and len(below) in (0, len(self.orders)):
            yield f"study.reject_from={self.reject_from} does not divide study.orders={self.orders}"
        strangers = [order for order in self.curves if order not in self.orders]
        if strangers:
            yield f"study.curves: order {strangers[0]} is not among study.orders={self.orders}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        orders = sorted(self.orders)
        fits = trained = fit_orders(x, t, orders[-1])
        by_order: dict[str, Floats] = {}
        if "training" in self.methods:
            by_order["training_loss"] = training_loss(fits)
            by_order["total_loss"] = len(x) * training_loss(fits)  # what FCML 1.4 prints
        if "loo" in self.methods:
            by_order["loo_loss"] = loo_loss(fits)
        if "kfold" in self.methods:
            by_order["kfold_loss"] = kfold_loss(fits, random_folds(len(x), self.folds, rng))
        if "holdout" in self.methods:
            held = self._held_out(x)
            trained = fit_orders(x[~held], t[~held], orders[-1])
            errors = t[held] - predict_orders(trained, x[held])
            by_order["holdout_training_loss"] = training_loss(trained)
            by_order["holdout_loss"] = np.mean(errors**2, axis=-1)
        if "likelihood" in self.methods:
            by_order["log_likelihood"] = log_likelihood(fits)
        for place in self.predict_at:
            predicted = predict_orders(trained, np.array([place]))[:, 0]
            by_order[f"prediction_{place:g}"] = predicted
            by_order[f"change_{place:g}"] = predicted - t[np.argmax(x)]  # from the last observed
            by_order[f"share_above_{place:g}"] = np.mean(t > predicted[:, None], axis=-1)
        by_order = {name: values[orders] for name, values in by_order.items()}

        metrics: dict[str, Scalar] = self._statements(orders, by_order)
        for name, values in by_order.items():
            names = [f"{name}_order_{order}" for order in orders]
            metrics |= dict(zip(names, values.tolist(), strict=True))
        margin = np.ptp(x) / 14  # eight years beyond the Olympic data
        ends = [x.min() - margin, x.max() + margin, *self.predict_at]
        grid = np.linspace(min(ends), max(ends), 400)
        curves = predict_orders(trained, grid)[self.curves]
        return Outcome(
            metrics,
            series={name: Series(orders, values.tolist()) for name, values in by_order.items()},
            tables={"orders": {"order": orders, **{k: v.tolist() for k, v in by_order.items()}}},
            arrays={"x": x, "t": t} | ({"grid": grid, "curves": curves} if self.curves else {}),
        )

    def _held_out(self, x: Floats) -> Bools:
        start = self.holdout_from if "holdout" in self.methods else None
        return x >= (np.inf if start is None else start)

    def _statements(self, orders: list[int], by_order: dict[str, Floats]) -> dict[str, Scalar]:
        """The orders that win, and what the books say in words about the curves."""
        losses = {name: by_order[f"{name}_loss"] for name in CHOOSING if name in self.methods}
        found: dict[str, Scalar] = {}
        for name, loss in losses.items():
            found[f"{name}_best_order"] = orders[int(np.argmin(loss))]
            if self.reject_from is not None:
                high = np.array(orders) >= self.reject_from
                found[f"{name}_rejects_high_orders"] = bool(loss[high].min() > loss[~high].max())
        for name in ("training_loss", "holdout_training_loss"):
            if name in by_order:
                found[f"{name}_never_rises"] = bool(np.all(np.diff(by_order[name]) <= 1e-9))
        if "holdout" in losses:
            found["holdout_loss_growth"] = float(losses["holdout"][-1] / losses["holdout"][0])
            found["holdout_loss_falls"] = int(np.sum(np.diff(losses["holdout"]) < 0))
        if {"loo", "holdout"} <= losses.keys():
            chosen = {found["loo_best_order"], found["holdout_best_order"]}
            found["loo_and_holdout_disagree"] = len(chosen) > 1
        if "log_likelihood" in by_order:
            found["log_likelihood_rises"] = bool(np.all(np.diff(by_order["log_likelihood"]) > 0))
        return found

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"fits": self._draw_fits(outcome)} if self.curves else {}
        return figures | {method: self._draw_method(method, outcome) for method in self.methods}

    def _draw_method(self, method: str, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        table, quantities = outcome.tables["orders"], METHODS[method]
        figure, axes = panels(1, len(quantities), squeeze=False)
        for ax, (name, title) in zip(axes[0], quantities.items(), strict=True):
            ax.plot(table["order"], table[name], marker="o")
            label = axis_names(self.data).loss if name.endswith("loss") else "Log likelihood"
            ax.set(xlabel="Polynomial order", ylabel=label, title=title, xticks=table["order"])
            best = outcome.metrics.get(f"{method}_best_order")
            if name == f"{method}_loss" and best in table["order"]:
                lowest = table[name][table["order"].index(best)]
                ax.plot(best, lowest, "D", color="C1", label=f"lowest: order {best}")
                ax.legend()
            if name == "holdout_loss":
                ax.set_yscale("log")  # as FCML Figure 1.12(b)
        return figure

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.plotting import panels

        arrays, names, table = outcome.arrays, axis_names(self.data), outcome.tables["orders"]
        x, t = arrays["x"], arrays["t"]
        figure, ax = panels()
        heights = [t.min(), t.max()]
        for i, order in enumerate(self.curves):
            ax.plot(arrays["grid"], arrays["curves"][i], label=f"order {order}")
            for place in self.predict_at:
                height = table[f"prediction_{place:g}"][table["order"].index(order)]
                ax.plot(place, height, "D", color=f"C{i}")
                heights.append(height)
        held = self._held_out(x)
        ax.plot(x[~held], t[~held], "o", color="black", label="data")
        if held.any():
            ax.plot(x[held], t[held], "o", color="black", markerfacecolor="white", label="held out")
        if self.predict_at:
            ax.plot([], [], "D", color="grey", label="prediction")
        room = (max(heights) - min(heights)) / 5  # high orders leave the page outside the data
        ax.set(xlabel=names.x, ylabel=names.t, ylim=(min(heights) - room, max(heights) + room))
        ax.legend()
        return figure
