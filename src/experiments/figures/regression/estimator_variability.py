"""Estimates over many data sets: their spread, the lines they give, and the noise variance."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.studies.regression.estimator_variability import EstimatorVariability

ESTIMATES = 1000  # dots shown; all of them would overlap


def draw(study: EstimatorVariability, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {
        "estimates": _estimates,
        "data": _data,
        "lines": _lines,
        "noise_estimates": _noise_estimates,
        "noise_variance": _noise_variance,
    }
    for name in study.show:
        yield name, draws[name](study, outcome)


def _data(study: EstimatorVariability, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    x, t = outcome["inputs"].values, outcome["targets"].values
    ax.plot(x, t, "o", color="C1", label="one data set")
    _truth(ax, outcome)
    return figure


def _lines(study: EstimatorVariability, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    lines, label = outcome["lines"], f"fits to {study.lines} data sets"
    ax.plot(lines.coord("x"), lines.values.T, "-", color="C1", linewidth=1, alpha=0.7)
    ax.plot([], [], "-", color="C1", linewidth=1, label=label)
    _truth(ax, outcome)
    return figure


def _truth(ax: Axes, outcome: Outcome) -> None:
    x, truth = outcome["truth"].coord("x"), outcome["truth"].values
    ax.plot(x, truth, "-", color="black", linewidth=2.5, label="true line")
    ax.set(xlabel="x", ylabel="t")
    ax.legend(loc="upper left")


def _estimates(study: EstimatorVariability, outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2, sharex=True, sharey=True)
    w_hat = outcome["w_hat"].values
    counts, *edges = np.histogram2d(w_hat[:, 0], w_hat[:, 1], bins=30)
    image = left.pcolormesh(*edges, counts.T, rasterized=True)
    figure.colorbar(image, ax=left, label="data sets in a bin")
    some = w_hat[:ESTIMATES]
    dots = {"markersize": 2.5, "markeredgewidth": 0, "alpha": 0.5, "rasterized": True}
    right.plot(*some[:, :2].T, "o", color="C0", **dots)
    right.plot([], [], "o", color="C0", markersize=4, label=f"{len(some)} of the estimates")
    w, C = np.array(study.weights[:2]), outcome["covariance"].values[:2, :2]
    for sd, label in ((1, "theory, 1 and 2 sd"), (2, None)):
        right.plot(*ellipse(w, C, sd, 200), "-", color="C1", linewidth=2, label=label)
    for ax in (left, right):
        ax.plot(*w, "P", color="black" if ax is right else "C1", markersize=7)
        ax.set(xlabel=r"$\hat w_0$", ylabel=r"$\hat w_1$")
    right.plot([], [], "P", color="black", markersize=7, linestyle="none", label="truth")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _noise_estimates(study: EstimatorVariability, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    ax.hist(outcome["noise_variance_estimate"].values, bins=50, color="C4")
    for value, colour, dash, label in (
        (study.noise_variance, "black", "-", "true noise variance"),
        (outcome["expected_noise_variance"].values[0], "C1", "-", "expected estimate"),
        (outcome["mean_noise_variance"].values[0], "C0", "--", "mean estimate"),
    ):
        ax.axvline(value, color=colour, linestyle=dash, label=f"{label}, {value:.4f}")
    ax.set(xlabel="estimated noise variance", ylabel="data sets in a bin")
    ax.legend(loc="upper right")
    return figure


def _noise_variance(study: EstimatorVariability, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    mean, error = outcome["mean_noise_variance"].values, outcome["noise_variance_error"].values
    ax.errorbar(study.n, mean, 2 * error, fmt="o", label="mean estimate, two standard errors")
    expected = outcome["expected_noise_variance"].values
    ax.plot(study.n, expected, "--", label=r"expected, $\sigma^2 (1 - D / N)$")
    ax.axhline(study.noise_variance, color="black", linewidth=1, label="true noise variance")
    ax.set(xlabel="data points N", ylabel="noise variance", xscale="log")
    ax.legend(loc="lower right")
    return figure
