"""The remaining connections and their fit; connections and misfit against the penalty."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.networks.network_pruning import NetworkPruning
from bythebook.models.networks.neural_network import layers


def draw(study: NetworkPruning, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    _network(left, study, outcome)
    right.plot(outcome["inputs"], outcome["targets"], "o", color="0.6", markersize=3, label="data")
    curve = outcome["curve"]
    right.plot(curve.coord("x"), curve, "-", color="C1", label="pruned network")
    right.set(xlabel="x", ylabel="y")
    figure.legend(loc="outside lower center", ncols=3)
    yield "network", figure
    yield "penalties", _penalties(outcome)


def _network(ax: Axes, study: NetworkPruning, outcome: Outcome) -> None:
    """Circles for units, squares for the constant 1 that feeds the biases."""
    sizes = study.layer_sizes
    height = [np.arange(units) - (units - 1) / 2 for units in sizes]
    top = max(sizes) / 2 + 0.5
    for depth, layer in enumerate(layers(outcome["weight"].values, sizes)):
        for place, weights in (*zip(height[depth], layer.W.T, strict=True), (top, layer.b)):
            for target, weight in zip(height[depth + 1], weights, strict=True):
                if abs(weight) > study.threshold:
                    colour, width = "C0" if weight > 0 else "C1", min(0.6 + abs(weight), 4)
                    ends = ([depth, depth + 1], [place, target])
                    ax.plot(*ends, "-", color=colour, linewidth=width, alpha=0.8, zorder=1)
        ax.plot(depth, top, "s", color="0.6", markersize=8, zorder=2)
    for depth, places in enumerate(height):
        ax.plot(np.full(len(places), depth), places, "o", color="black", markersize=9, zorder=2)
    ax.plot([], [], "-", color="C0", label="positive weight")
    ax.plot([], [], "-", color="C1", label="negative weight")
    ax.plot([], [], "s", color="0.6", label="constant 1")
    names = ["input", *(f"hidden {k + 1}" for k in range(len(study.hidden))), "output"]
    ax.set(xticks=range(len(sizes)), xticklabels=names, yticks=[])
    ax.set(xlim=(-0.4, len(sizes) - 0.6), ylim=(-max(sizes) / 2 - 0.3, top + 0.8))
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


def _penalties(outcome: Outcome) -> Figure:
    penalty, start = outcome["misfit"].coord("penalty"), outcome["connections_at_start"].item
    figure, (left, right) = subplots(1, 2, sharex=True)
    left.plot(penalty, outcome["connections"].values.mean(1), marker="o")
    left.axhline(start, color="black", linewidth=1, linestyle=":")
    left.set(xlabel="l1 penalty", ylabel="connections left", xscale="log")
    right.plot(penalty, np.median(outcome["misfit"], axis=1), marker="o")
    right.set(xlabel="l1 penalty", ylabel="residual sd / data sd")
    for ax in (left, right):
        ax.set_ylim(bottom=0)
    return figure
