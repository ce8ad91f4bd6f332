"""Samples and sigma points before and after; the Gaussians that tangent and points make of them."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.densities import gaussian_curve
from bythebook.experiments.studies.state_space.unscented_transform import UnscentedTransform

LOOKS = {"exact": ("-", "C2"), "unscented": ("--", "C1"), "tangent": (":", "C0")}


def draw(study: UnscentedTransform, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "transform", (_plane if study.mapping == "polar" else _line)(outcome)


def _plane(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    left.plot(*outcome["sample_input"].values.T, ".", color="0.75", markersize=2)
    left.plot(*outcome["point_input"].values.T, "o", color="C1", label="sigma points")
    left.set(xlabel="range $x_1$", ylabel="angle $x_2$ (radians)")
    right.plot(*outcome["sample_output"].values.T, ".", color="0.75", markersize=2)
    right.plot(*outcome["point_output"].values.T, "o", color="C1")
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for way, (dash, colour) in LOOKS.items():
        mean = outcome["output_mean"].sel(way=way).values
        values, vectors = np.linalg.eigh(outcome["output_covariance"].sel(way=way).values)
        ring = mean[:, np.newaxis] + vectors @ (np.sqrt(values)[:, np.newaxis] * circle)
        right.plot(*ring, dash, color=colour, label=way)
        right.plot(*mean, "+", color=colour, markersize=8)
    right.set(xlabel="$y_1$", ylabel="$y_2$")
    for ax in (left, right):
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.42 * (high - low))
        ax.legend(loc="upper right")
    return figure


def _line(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    y, low, high = outcome["sample_output"].values[:, 0], -3.0, 8.0
    left.hist(y, np.linspace(low, high, 60), density=True, color="0.8", label="samples")
    grid = np.linspace(low, high, 400)
    for way, (dash, colour) in LOOKS.items():
        mean = outcome["output_mean"].sel(way=way).values
        sd = np.sqrt(outcome["output_covariance"].sel(way=way).values[0])
        left.plot(grid, gaussian_curve(grid, mean, sd), dash, color=colour, label=way)
    left.set(xlabel="$y$", ylabel="density", xlim=(low, high))
    left.legend(loc="upper right")
    errors = outcome["mean_error"]
    spreads = errors.coord("spread")
    for way, mark in (("tangent", "o"), ("unscented", "s")):
        dash, colour = LOOKS[way]
        mine = errors.sel(approximation=way)
        right.loglog(spreads, mine, dash, marker=mark, color=colour, label=way)
    right.set(xlabel="standard deviation of the prior", ylabel="error of the mean")
    right.set_xticks(spreads, [f"{spread:g}" for spread in spreads])
    right.minorticks_off()
    right.legend(loc="upper left")
    return figure
