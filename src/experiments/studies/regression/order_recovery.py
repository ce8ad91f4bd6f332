"""Can the order of a polynomial be recovered from data? Draws about a known curve (FCML 1.5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import NoisyCubic
from models.regression.curves import expected_loss, inputs, noisy, powers, quadrature
from models.regression.polynomials import (
    OrderFits,
    fit_orders,
    kfold_loss,
    loo_loss,
    predict_orders,
    training_loss,
)
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

METHODS = ("loo", "kfold", "holdout")
_LABELS = {"loo": "leave-one-out", "kfold": "folds", "holdout": "hold-out"}


@dataclass
class OrderRecovery(NoisyCubic, Study):
    """How often cross-validation finds the order of the true polynomial (FCML 1.5.2)."""

    orders: list[int] = knob(
        list(range(8)), "orders to compare", at_least=0, at_most=20, distinct=True
    )
    methods: list[str] = knob(["loo"], "how the order is chosen", choices=METHODS, distinct=True)
    folds: int = knob(10, "folds for the method kfold", at_least=2)
    held_out: int = knob(3, "points kept aside for the method holdout", at_least=1)
    test_points: int = knob(
        0, "points in the test set; 0: the exact expectation", at_least=0, at_most=10_000
    )
    repetitions: int = knob(500, "data sets to draw", at_least=1, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if "kfold" in self.methods and self.folds > self.n:
            yield f"study.folds={self.folds}: {self.n} points; allowed: <= {self.n}"
        left = {
            "loo": self.n - 1,
            "kfold": self.n - -(-self.n // self.folds),
            "holdout": self.n - self.held_out,
        }
        points = min([self.n, *(left[method] for method in self.methods)])
        if "holdout" in self.methods and self.n - self.held_out < 2:
            yield f"study.held_out={self.held_out}: {self.n} points; allowed: <= {self.n - 2}"
        elif max(self.orders) >= points:
            yield f"study.orders={self.orders}: fits to {points} points; allowed: orders < {points}"

    def run(self, rng: Generator) -> Outcome:
        orders = sorted(self.orders)
        x, t = self.sample(rng, self.repetitions)
        # In random order the first points are a random hold-out set, and blocks are random folds.
        mixed = rng.permuted(np.tile(np.arange(self.n), (self.repetitions, 1)), axis=-1)
        x, t = np.take_along_axis(x, mixed, axis=-1), np.take_along_axis(t, mixed, axis=-1)
        fits = fit_orders(x, t, orders[-1])
        losses = {name: v[:, orders] for name, v in self._losses(fits, x, t, rng).items()}
        chosen = {name: _simplest_best(v, t.var()) for name, v in losses.items()}
        metrics: dict[str, Any] = {}
        for name in (*self.methods, "test"):
            if self.true_order in orders:
                true = orders.index(self.true_order)
                metrics[f"share_{name}_recovers"] = np.mean(chosen[name] == true)
                metrics[f"share_{name}_valley"] = np.mean(_valley(losses[name], true))
            metrics[f"{name}_best_order"] = orders[np.argmin(losses[name].mean(axis=0))]
            picked = np.take_along_axis(losses["test"], chosen[name][:, None], axis=-1)
            metrics[f"{name}_chosen_test_rms"] = np.median(np.sqrt(picked))
        training = losses["training"]
        metrics["training_never_rises"] = bool(np.all(np.diff(training) <= 1e-12 * t.var()))
        metrics["smallest_training_ratio"] = np.min(
            training[:, 0] / np.maximum(training[:, -1], 1e-300)
        )
        if {"loo", "holdout"} <= set(self.methods):
            metrics["loo_beats_holdout"] = bool(
                metrics["loo_chosen_test_rms"] < metrics["holdout_chosen_test_rms"]
            )
        table: dict[str, Any] = {"order": orders}
        for name, values in losses.items():
            table[name] = values.mean(axis=0)
            quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
            table |= dict(
                zip((f"{name}_low", f"{name}_median", f"{name}_high"), quartiles, strict=True)
            )
            table[f"{name}_share"] = [np.mean(chosen[name] == k) for k in range(len(orders))]
            for order, loss, share in zip(orders, table[name], table[f"{name}_share"], strict=True):
                metrics |= {
                    f"{name}_loss_order_{order}": loss,
                    f"share_{name}_chooses_{order}": share,
                }
        arrays = {f"{name}_chosen_order": np.array(orders)[index] for name, index in chosen.items()}
        arrays |= {f"weight_{k}": w for k, w in enumerate(_weights(fits, self.low, self.high).T)}
        grid = self.grid()
        arrays |= {"x": x[0], "t": t[0], "grid": grid, "truth": self.truth(grid)}
        arrays["curves"] = predict_orders(fits, grid)[0, orders]
        series = {f"{name}_loss": Series(orders, table[name]) for name in losses}
        return Outcome(metrics, series, {"orders": table}, arrays)

    def _losses(self, fits: OrderFits, x: Floats, t: Floats, rng: Generator) -> dict[str, Floats]:
        """Mean squared losses, each (repetitions, orders from 0)."""
        losses = {"training": training_loss(fits)}
        if "loo" in self.methods:
            losses["loo"] = loo_loss(fits)
        if "kfold" in self.methods:
            losses["kfold"] = kfold_loss(fits, np.array_split(np.arange(self.n), self.folds))
        if "holdout" in self.methods:
            held, rest = slice(self.held_out), slice(self.held_out, None)
            trained = fit_orders(x[:, rest], t[:, rest], fits.c.shape[-1] - 1)
            errors = t[:, None, held] - predict_orders(trained, x[:, held])
            losses["holdout"] = np.mean(errors**2, axis=-1)
        if self.test_points:
            x_new = inputs(self.test_points, self.low, self.high, "uniform", self.repetitions, rng)
            t_new = noisy(self.truth(x_new), self.noise, rng)
            losses["test"] = np.mean((t_new[:, None] - predict_orders(fits, x_new)) ** 2, axis=-1)
        else:
            nodes = quadrature(self.low, self.high)
            f, h = predict_orders(fits, nodes.x), self.truth(nodes.x)
            losses["test"] = expected_loss(f, h, nodes.weight, self.noise)
        return losses

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"loss": self._draw_loss(outcome), "fits": self._draw_fits(outcome)}
        if len(self.orders) <= 2:  # two fits to compare, and no curve of losses to speak of
            return dict(reversed(figures.items()))
        return figures

    def _draw_loss(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table, names = outcome.tables["orders"], ["training", *self.methods, "test"]
        figure, (left, right) = panels(1, 2)
        width = 0.8 / len(names[1:])
        for i, name in enumerate(names):
            label = _LABELS.get(name, name)
            low, median, high = (table[f"{name}_{part}"] for part in ("low", "median", "high"))
            left.plot(table["order"], median, marker="o", color=f"C{i}", label=label)
            left.fill_between(table["order"], low, high, color=f"C{i}", alpha=0.15, linewidth=0)
            if name != "training":
                place = np.array(table["order"]) + (i - len(names) / 2) * width
                right.bar(
                    place, 100 * np.array(table[f"{name}_share"]), width, color=f"C{i}", label=label
                )
        medians = [value for name in names for value in table[f"{name}_median"]]
        if max(medians) > 20 * min(medians) > 0:
            left.set_yscale("log")
        left.set(
            xlabel="polynomial order",
            ylabel="squared loss: median and quartiles",
            xticks=table["order"],
        )
        right.set(
            xlabel="polynomial order",
            ylabel="data sets choosing the order (%)",
            xticks=table["order"],
        )
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(names))
        return figure

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        orders, arrays = outcome.tables["orders"]["order"], outcome.arrays
        figure, ax = panels()
        ax.plot(arrays["x"], arrays["t"], "o", color="0.6", markersize=3.5, label="data")
        shown = {orders[0], orders[-1], self.true_order if self.true_order in orders else orders[0]}
        for i, order in enumerate(sorted(shown)):
            ax.plot(
                arrays["grid"],
                arrays["curves"][orders.index(order)],
                color=f"C{i}",
                label=f"order {order}",
            )
        ax.plot(
            arrays["grid"], arrays["truth"], "--", color="black", linewidth=1, label="true curve"
        )
        spread = np.ptp(arrays["t"])
        ax.set(
            xlabel="x",
            ylabel="t",
            ylim=(arrays["t"].min() - spread / 4, arrays["t"].max() + spread / 4),
        )
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return figure


def _simplest_best(losses: Floats, variance: float) -> Ints:
    """The index of the least loss along the last axis; of several exact to rounding, the first."""
    ties = losses <= losses.min(axis=-1, keepdims=True) + 1e-20 * variance
    return np.asarray(np.argmax(ties, axis=-1))


def _valley(losses: Floats, bottom: int) -> Bools:
    """Does the loss fall up to this order and rise after it?"""
    steps = np.diff(losses, axis=-1)
    valley = np.all(steps[:, :bottom] < 0, axis=-1) & np.all(steps[:, bottom:] > 0, axis=-1)
    return np.asarray(valley)


def _weights(fits: OrderFits, low: float, high: float) -> Floats:
    """Weights of 1, x, ..., x^K, (repetitions, K + 1), from the K-th order fit at K + 1 points."""
    K = fits.c.shape[-1] - 1
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(K + 1) + 0.5) / (K + 1))
    values = predict_orders(fits, nodes)[:, -1]
    return np.asarray(np.linalg.solve(powers(nodes, K), values.T).T, dtype=np.float64)
