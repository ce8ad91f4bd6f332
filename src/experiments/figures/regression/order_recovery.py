"""Losses, evidence and bound against the order over data sets, and fits to the first one."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.regression import fill_band, pad_ylim, panel_tiles
from bythebook.experiments.studies.regression.order_recovery import OrderRecovery

LABELS = {"loo": "leave-one-out", "kfold": "folds", "holdout": "hold-out"}
LEVELS = (0.05, 0.5, 0.95)


def draw(study: OrderRecovery, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "chosen_test_loss" in outcome:
        figures = {"loss": _losses(outcome), "fits": _fits(study, outcome)}
        few = len(study.orders) <= 2  # two fits to compare, too few for a curve of losses
        yield from reversed(figures.items()) if few else figures.items()
    if "evidence" in study.methods:
        yield "evidence", _evidence(outcome)
        yield "data", _data(outcome)
    if "bound" in study.methods:
        yield "bound", _bound(outcome)


def _losses(outcome: Outcome) -> Figure:
    names = ["training", *outcome["chosen_test_loss"].coord("method"), "test"]
    orders = outcome["training_loss"].coord("order")
    figure, (left, right) = subplots(1, 2)
    width, medians = 0.8 / len(names[1:]), []
    for i, name in enumerate(names):
        losses, label = outcome[f"{name}_loss"].values, LABELS.get(name, name)
        look = {"color": f"C{i}"}
        low, median, high = np.quantile(losses, [0.25, 0.5, 0.75], axis=0)
        left.plot(orders, median, marker="o", label=label, **look)
        fill_band(left, orders, low, high, alpha=0.15, **look)
        medians += median.tolist()
        if name != "training":
            shares = np.mean(np.argmin(losses, axis=-1)[:, None] == np.arange(len(orders)), axis=0)
            place = orders + (i - len(names) / 2) * width
            right.bar(place, 100 * shares, width, label=label, **look)
    if max(medians) > 20 * min(medians) > 0:
        left.set_yscale("log")
    left.set(ylabel="squared loss: median and quartiles")
    right.set(ylabel="data sets choosing the order (%)")
    for ax in (left, right):
        ax.set(xlabel="polynomial order", xticks=orders)
    shared_legend(figure, left, len(names))
    return figure


def _fits(study: OrderRecovery, outcome: Outcome) -> Figure:
    curves, t = outcome["curve"], outcome["targets"].values
    x, orders = curves.coord("x"), curves.coord("order").tolist()
    figure, ax = subplots()
    ax.plot(outcome["inputs"].values, t, "o", color="0.6", markersize=3.5, label="data")
    true = study.true_order if study.true_order in orders else orders[0]
    for i, order in enumerate(sorted({orders[0], orders[-1], true})):
        ax.plot(x, curves.sel(order=order), color=f"C{i}", label=f"order {order}")
    ax.plot(x, outcome["truth"], "--", color="black", linewidth=1, label="true curve")
    ax.set(xlabel="x", ylabel="t")
    pad_ylim(ax, t, 1 / 4)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _evidence(outcome: Outcome) -> Figure:
    log_p = outcome["log_evidence"]
    variances, orders = log_p.coord("prior_variance")[::-1], log_p.coord("order")
    names = ("polynomial order", "evidence / highest")
    figure, axes = panel_tiles(len(variances), *names, sharex=True, sharey=True)
    look: dict[str, Any] = {"ecolor": "black", "capsize": 3, "error_kw": {"elinewidth": 1}}
    for ax, s in zip(axes, variances, strict=True):
        here = log_p.sel(prior_variance=s).values
        relative = np.exp(here - here.max(axis=-1, keepdims=True))
        low, middle, high = np.quantile(relative, LEVELS, axis=0)
        ax.bar(orders, middle, yerr=[middle - low, high - middle], color="C0", **look)
        ax.set(title=f"prior variance {s:g}", xticks=orders)
    return figure


def _data(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    ax.plot(outcome["inputs"], outcome["targets"], "o", color="C0", markersize=4, label="data")
    ax.plot(outcome["truth"].coord("x"), outcome["truth"], color="C2", label="true curve")
    ax.set(xlabel="x", ylabel="t")
    ax.legend()
    return figure


def _bound(outcome: Outcome) -> Figure:
    """The bound under the first prior, and the least-squares residual."""
    orders, residuals = outcome["bound"].coord("order"), np.sqrt(outcome["training_loss"])
    low, middle, high = np.quantile(outcome["bound"].values[0], LEVELS, axis=0)
    figure, (left, right) = subplots(1, 2)
    left.plot(orders, middle, "o-", label="median")
    fill_band(left, orders, low, high, color="C0", label="central 90 % of data sets")
    left.set_yscale("symlog", linthresh=10)
    left.set(xlabel="polynomial order", ylabel="lower bound on ln p(t)", xticks=orders)
    left.legend(loc="lower right")
    right.plot(orders, np.median(residuals, axis=0), "o-", color="C1")
    right.set(xlabel="polynomial order", ylabel="least-squares residual (rms)", xticks=orders)
    right.set_yscale("symlog", linthresh=0.1)
    right.set_ylim(bottom=-0.01)
    return figure
