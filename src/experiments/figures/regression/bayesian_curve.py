"""Predictions with error bars as data arrive, posteriors of two weights, kernels."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import column_panels
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.plotting.regression import fill_band, panel_tiles
from bythebook.experiments.studies.regression.bayesian_curve import BayesianCurve


def draw(study: BayesianCurve, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "prediction", _prediction(study, outcome)
    if study.functions == 2:
        yield "weights", _weights(study, outcome)
    if "kernel" in outcome and study.observed[-1] >= 50:
        yield "kernel", _kernel(outcome)


def _prediction(study: BayesianCurve, outcome: Outcome) -> Figure:
    figure, axes = panel_tiles(len(study.observed), "x", "t", sharex=True, sharey=True)
    x, t = outcome["inputs"].values, outcome["targets"].values
    for ax, n in zip(axes, study.observed, strict=True):
        mean, sd = (outcome[name].sel(observed=n) for name in ("prediction", "prediction_sd"))
        grid = mean.coord("x")
        if "truth" in outcome:
            ax.plot(grid, outcome["truth"].values, color="C2", label="true curve")
        ax.plot(grid, mean.values, color="C1", label="prediction, one standard deviation")
        fill_band(ax, grid, mean.values - sd.values, mean.values + sd.values, color="C1")
        ax.plot(x[:n], t[:n], "o", color="C0", ms=4, label="data")
        ax.set_title(f"{n} points" if n != 1 else "1 point")
    axes[0].set_ylim(t.min() - 1, t.max() + 1)
    shared_legend(figure, axes[-1], 3)
    return figure


def _weights(study: BayesianCurve, outcome: Outcome) -> Figure:
    figure, axes = column_panels(len(study.observed), 4, 1.0, sharex=True, sharey=True)
    means, covariances = outcome["weight_mean"].values, outcome["weight_covariance"].values
    for ax, n, mean, S in zip(axes, study.observed, means, covariances, strict=True):
        for sd in (1, 2):
            ax.plot(*ellipse(mean, S, sd), color="C1", lw=1.2)
        ax.plot(*mean, "+", color="C1")
        if study.curve == "polynomial":
            ax.plot(*study.weights[:2], "x", color="C2")
        ax.set(title=f"{n} seen", xlabel="$w_0$", aspect="equal")
    axes[0].set_ylabel("$w_1$")
    return figure


def _kernel(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    kernel, x = outcome["kernel"], outcome["inputs"].values
    grid = kernel.coord("x")
    order = np.argsort(x[: kernel.values.shape[1]])
    for i, share in enumerate((0.1, 0.5, 0.75)):
        place = int(share * (len(grid) - 1))
        ax.plot(
            x[order], kernel.values[place, order], color=f"C{i}", label=f"x = {grid[place]:.2f}"
        )
    ax.set(xlabel="input x' of a target", ylabel="equivalent kernel k(x, x')")
    shared_legend(figure, ax, 3)
    return figure
