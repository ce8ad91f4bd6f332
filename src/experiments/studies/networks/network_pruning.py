"""A deep network whose connections an l1 penalty prunes (MLAPP 16.5.6.2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from models.networks.neural_network import fit_network, layers, n_parameters, predict
from models.regression.random_curves import random_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class NetworkPruning(Study):
    """Connections left, and the fit, against the weight of an l1 penalty (MLAPP Figure 16.18)."""

    hidden: list[int] = knob(
        [4, 4, 4, 4], "tanh units in each hidden layer", at_least=1, at_most=50
    )
    penalties: list[float] = knob(
        [0.5, 0.05, 5.0],
        "l1 weights beside half the squared error; the first is drawn",
        above=0,
        distinct=True,
    )
    decay: float = knob(1e-3, "weight of half the squared weights", at_least=0)
    n: int = knob(200, "points in a data set", at_least=2)
    repetitions: int = knob(
        3, "random curves, each with its data and start", at_least=1, at_most=100
    )
    max_iter: int = knob(2000, "iterations of L-BFGS-B between restarts", at_least=1)
    rounds: int = knob(4, "times that it is started, each from where it stood", at_least=1)
    threshold: float = knob(1e-4, "a connection of this size or less counts as pruned", at_least=0)

    def run(self, rng: Generator) -> Outcome:
        sizes = self._sizes
        data = random_curves(self.repetitions, self.n, rng)
        start = rng.standard_normal((self.repetitions, n_parameters(sizes)))
        left = np.empty((len(self.penalties), self.repetitions))
        misfit, error = np.empty_like(left), np.empty_like(left)
        arrays = {"x": data.x[0], "t": data.t[0], "grid": data.grid, "truth": data.h[0]}
        for i, penalty in enumerate(self.penalties):
            for s in range(self.repetitions):
                x, t, theta = data.x[s, :, None], data.t[s, :, None], start[s : s + 1]
                for _ in range(self.rounds):
                    theta = fit_network(
                        theta, sizes, x, t, decay=self.decay, l1=penalty, max_iter=self.max_iter
                    ).theta
                left[i, s] = np.sum(np.abs(theta) > self.threshold)
                misfit[i, s] = np.std(predict(theta, sizes, x) - t) / np.std(t)
                curve = predict(theta, sizes, data.grid[:, None])[0, :, 0]
                error[i, s] = np.std(curve - data.h[s]) / np.std(data.h[s])
                if i == s == 0:
                    arrays |= {"theta": theta[0], "curve": curve}
        order = np.argsort(self.penalties)
        table: Table = {
            "penalty": np.array(self.penalties)[order].tolist(),
            "connections": left.mean(1)[order].tolist(),
            "share_pruned": (1 - left.mean(1)[order] / start.shape[1]).tolist(),
            "misfit": np.median(misfit, axis=1)[order].tolist(),
            "curve_error": np.median(error, axis=1)[order].tolist(),
        }
        metrics: dict[str, Scalar] = {
            "connections_at_start": start.shape[1],
            "connections_fall_with_penalty": bool(np.all(np.diff(table["connections"]) < 0)),
        }
        for row, penalty in enumerate(table["penalty"]):
            for name in ("connections", "share_pruned", "misfit"):
                metrics[f"{name}_penalty_{penalty:g}"] = table[name][row]
        series = {"connections": Series(list(range(len(order))), table["connections"])}
        return Outcome(metrics, series, {"penalties": table}, arrays)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return (1, *self.hidden, 1)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, (left, right) = panels(1, 2)
        self._draw_network(left, outcome)
        right.plot(arrays["x"], arrays["t"], "o", color="0.6", markersize=3, label="data")
        right.plot(arrays["grid"], arrays["curve"], "-", color="C1", label="pruned network")
        right.set(xlabel="x", ylabel="y")
        figure.legend(loc="outside lower center", ncols=3)
        return {"network": figure, "penalties": self._draw_penalties(outcome)}

    def _draw_network(self, ax: "Axes", outcome: Outcome) -> None:
        """Circles for units, squares for the constant 1 that feeds the biases."""
        sizes = self._sizes
        height = [np.arange(units) - (units - 1) / 2 for units in sizes]
        top = max(sizes) / 2 + 0.5
        for depth, layer in enumerate(layers(outcome.arrays["theta"], sizes)):
            for place, weights in (*zip(height[depth], layer.W.T, strict=True), (top, layer.b)):
                for target, weight in zip(height[depth + 1], weights, strict=True):
                    if abs(weight) > self.threshold:
                        colour = "C0" if weight > 0 else "C1"
                        width = min(0.6 + abs(weight), 4)
                        ends = ([depth, depth + 1], [place, target])
                        ax.plot(*ends, "-", color=colour, linewidth=width, alpha=0.8, zorder=1)
            ax.plot(depth, top, "s", color="0.6", markersize=8, zorder=2)
        for depth, places in enumerate(height):
            ax.plot(np.full(len(places), depth), places, "o", color="black", markersize=9, zorder=2)
        ax.plot([], [], "-", color="C0", label="positive weight")
        ax.plot([], [], "-", color="C1", label="negative weight")
        ax.plot([], [], "s", color="0.6", label="constant 1")
        names = ["input", *(f"hidden {k + 1}" for k in range(len(self.hidden))), "output"]
        ax.set(xticks=range(len(sizes)), xticklabels=names, yticks=[])
        ax.tick_params(axis="x", rotation=30, length=0)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)

    def _draw_penalties(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        table = outcome.tables["penalties"]
        figure, (left, right) = panels(1, 2, sharex=True)
        left.plot(table["penalty"], table["connections"], marker="o")
        left.axhline(
            outcome.metrics["connections_at_start"], color="black", linewidth=1, linestyle=":"
        )
        left.set(xlabel="l1 penalty", ylabel="connections left", xscale="log")
        left.set_ylim(bottom=0)
        right.plot(table["penalty"], table["misfit"], marker="o")
        right.set(xlabel="l1 penalty", ylabel="residual sd / data sd")
        right.set_ylim(bottom=0)
        return figure
