"""Losses against the order over data sets, the orders chosen, and fits to the first data set."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.curves import around, band, legend_of
from experiments.studies.regression.order_recovery import OrderRecovery

LABELS = {"loo": "leave-one-out", "kfold": "folds", "holdout": "hold-out"}


def draw(study: OrderRecovery, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figures = {"loss": _losses(study, outcome), "fits": _fits(study, outcome)}
    few = len(study.orders) <= 2  # two fits to compare, and no curve of losses to speak of
    yield from reversed(figures.items()) if few else figures.items()


def _losses(study: OrderRecovery, outcome: Outcome) -> Figure:
    names = ["training", *study.methods, "test"]
    orders = outcome["training_loss"].along("order")
    figure, (left, right) = panels(1, 2)
    width, medians = 0.8 / len(names[1:]), []
    for i, name in enumerate(names):
        losses, look = outcome[f"{name}_loss"].values, {"color": f"C{i}"}
        label = LABELS.get(name, name)
        low, median, high = np.quantile(losses, [0.25, 0.5, 0.75], axis=0)
        left.plot(orders, median, marker="o", label=label, **look)
        band(left, orders, low, high, alpha=0.15, **look)
        medians += median.tolist()
        if name != "training":
            shares = np.mean(np.argmin(losses, axis=-1)[:, None] == np.arange(len(orders)), axis=0)
            place = orders + (i - len(names) / 2) * width
            right.bar(place, 100 * shares, width, label=label, **look)
    if max(medians) > 20 * min(medians) > 0:
        left.set_yscale("log")
    left.set(xlabel="polynomial order", ylabel="squared loss: median and quartiles")
    right.set(xlabel="polynomial order", ylabel="data sets choosing the order (%)")
    for ax in (left, right):
        ax.set_xticks(orders)
    legend_of(figure, left, len(names))
    return figure


def _fits(study: OrderRecovery, outcome: Outcome) -> Figure:
    curves, t = outcome["curve"], outcome["targets"].values
    grid, orders = curves.along("x"), curves.along("order").tolist()
    figure, ax = panels()
    ax.plot(outcome["inputs"].values, t, "o", color="0.6", markersize=3.5, label="data")
    true = study.true_order if study.true_order in orders else orders[0]
    for i, order in enumerate(sorted({orders[0], orders[-1], true})):
        ax.plot(grid, curves.at(order=order), color=f"C{i}", label=f"order {order}")
    look = {"color": "black", "linewidth": 1, "label": "true curve"}
    ax.plot(grid, outcome["truth"], "--", **look)
    ax.set(xlabel="x", ylabel="t")
    around(ax, t, 1 / 4)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
