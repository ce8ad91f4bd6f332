"""Predictions with their error bars, or functions drawn from the fits."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.labels import axis_labels
from bythebook.experiments.plotting.regression import pad_ylim, panel_tiles
from bythebook.experiments.studies.regression.predictive_variance import PredictiveVariance


def draw(study: PredictiveVariance, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.show == "functions":
        yield "functions", _functions(study, outcome)
    else:
        yield "error-bars", _bars(study, outcome)


def _functions(study: PredictiveVariance, outcome: Outcome) -> Figure:
    names = axis_labels(study.data)[:2]
    figure, axes = panel_tiles(len(study.orders), *names, sharex=True, sharey=True)
    x, t, grid = outcome["inputs"].values, outcome["targets"].values, outcome["variance"].coord("x")
    low, high = study.zoom or (-np.inf, np.inf)
    seen = (grid >= low) & (grid <= high)
    data = (x >= grid[seen][0]) & (x <= grid[seen][-1])
    for ax, order, lines in zip(axes, study.orders, outcome["functions"].values, strict=True):
        ax.plot(grid[seen], lines[:, seen].T, color="C0", linewidth=0.9, alpha=0.6)
        if "truth" in outcome:
            ax.plot(grid[seen], outcome["truth"].values[seen], color="black", linewidth=2.2)
        ax.plot(x[data], t[data], "o", color="C1", markersize=3)
        ax.set_title(f"{study.functions} functions of order {order}")
    return figure


def _bars(study: PredictiveVariance, outcome: Outcome) -> Figure:
    names = axis_labels(study.data)[:2]
    figure, axes = panel_tiles(1 + len(study.orders), *names, sharex=True, sharey=True)
    t, variance = outcome["targets"].values, outcome["variance"]
    grid = variance.coord("x")[::2]
    axes[0].plot(outcome["inputs"].values, t, "o", color="C1", markersize=3)
    axes[0].set_title("one data set" + (" and the true curve" if "truth" in outcome else ""))
    if "truth" in outcome:
        axes[0].plot(outcome["truth"].coord("x"), outcome["truth"].values, color="black")
    power, sign = (1.0, "²") if study.bars == "variance" else (0.5, "")
    for k, (ax, order) in enumerate(zip(axes[1:], study.orders, strict=True)):
        mean, bar = outcome["prediction"].values[k], variance.values[0, k] ** power
        ax.errorbar(grid, mean[::2], bar[::2], color="C0", linewidth=1, elinewidth=0.8)
        ax.set_title(f"order {order}: prediction ± σ{sign}")
    pad_ylim(axes[0], t, 1 / 3)  # the longest bars leave the figure
    return figure
