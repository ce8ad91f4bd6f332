"""The data; errors against the order or the size, and a few fits; likelihoods with a penalty."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import legend_below
from bythebook.experiments.plotting.regression import column_names, fill_band, panel_tiles, plot_fit
from bythebook.experiments.studies.regression.curve_fitting import CurveFitting


def draw(study: CurveFitting, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if not study.orders:
        yield "data", _data(study, outcome)
    elif study.prior_variance is not None:
        yield "likelihood", _likelihoods(outcome)
    else:
        yield "error", _by_size(study, outcome) if study.more_n else _by_order(outcome)
        yield "fits", _fits(study, outcome)


def _data(study: CurveFitting, outcome: Outcome) -> Figure:
    """The first data set with the true curve, and the band of one standard deviation about it."""
    x, h = outcome["truth"].coord("x"), outcome["truth"].values
    figure, (left, right) = subplots(1, 2, sharey=True)
    x_name, t_name = column_names(study.data)
    left.plot(outcome["inputs"].values[0], outcome["targets"].values[0], "o", label="data")
    left.plot(x, h, color="C2", label=study.curve)
    left.set(xlabel=x_name, ylabel=t_name, title=f"{study.size} points")
    right.plot(x, h, color="C2", label="mean")
    look = {"color": "C1", "alpha": 0.25, "label": "one standard deviation"}
    fill_band(right, x, h - study.noise, h + study.noise, **look)
    right.set(xlabel=x_name, title="p(t | x)")
    for ax in (left, right):
        legend_below(ax, 2)
    return figure


def _by_order(outcome: Outcome) -> Figure:
    """Errors of the first data set."""
    orders = outcome["test_loss"].coord("order")
    training, test = (np.sqrt(outcome[f"{k}_loss"].values[0, 0]) for k in ("training", "test"))
    figure, ax = subplots()
    ax.plot(orders, training, "o-", label="training")
    ax.plot(orders, test, "s-", label="new data")
    ax.plot(orders, outcome["noise_in_fit"], "^:", label="noise in the fit")
    ax.set(xlabel="polynomial order", ylabel="root mean square", xticks=orders)
    ax.set_ylim(-0.03 * max(test), 1.1 * max(test))
    legend_below(ax)
    return figure


def _by_size(study: CurveFitting, outcome: Outcome) -> Figure:
    """Errors of the highest order."""
    n = outcome["test_loss"].coord("n")
    training, test = (np.sqrt(outcome[f"{k}_loss"].values[..., -1]) for k in ("training", "test"))
    low, middle, high = np.quantile(test, [0.05, 0.5, 0.95], axis=-1)
    figure, ax = subplots()
    ax.plot(n, np.median(training, axis=-1), "o-", label="training, median")
    ax.plot(n, middle, "s-", label="new data, median")
    fill_band(ax, n, low, high, color="C1", label="new data, central 90 %")
    ax.axhline(study.noise, color="black", linestyle="--", linewidth=1, label="noise")
    ax.set(xlabel="points in the training set", ylabel="root mean square error", xscale="log")
    if max(high) > 20 * study.noise > 0:
        ax.set_yscale("log")
    legend_below(ax, 2)
    return figure


def _fits(study: CurveFitting, outcome: Outcome) -> Figure:
    curves, truth = outcome["curve"], outcome["truth"]
    sizes, orders = curves.coord("shown_n"), curves.coord("drawn_order")
    cuts = np.cumsum(sizes)[:-1]
    x, t = (np.split(outcome[k].values[0], cuts) for k in ("inputs", "targets"))
    names = column_names(study.data)
    figure, axes = panel_tiles(len(sizes) * len(orders), *names, sharex=True, sharey=True)
    for i, ax in enumerate(axes):
        k, j = divmod(i, len(orders))
        plot_fit(ax, x[k], t[k], truth.coord("x"), truth.values, curves.values[k, j])
        size = f"{sizes[k]} points, " if study.more_n else ""
        ax.set_title(f"{size}order {orders[j]}")
    shared_legend(figure, axes[0], 3)
    return figure


def _likelihoods(outcome: Outcome) -> Figure:
    values = outcome["log_likelihood"]
    orders = values.coord("order")
    figure, axes = subplots(1, 2, sharex=True)
    for ax, sample in zip(axes, ("training", "new"), strict=True):
        for kind, mark in (("maximum", "o-"), ("penalised", "s--")):
            here = values.sel(fit=kind, sample=sample)
            ax.plot(orders, here, mark, label=f"{kind} likelihood")
        ax.set(xlabel="polynomial order", title=f"{sample} data", xticks=orders)
    axes[0].set_ylabel("log likelihood per point (nats)")
    shared_legend(figure, axes[0], 2)
    return figure
