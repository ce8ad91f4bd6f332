"""Errors and flexibility against the penalty, fits under a few, and the matching priors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.drawing.curves import around, column_names, tiles
from experiments.studies.regression.ridge_path import RidgePath
from models.types import Floats

LABELS = {"training": "training", "loo": "leave-one-out", "kfold": "folds", "test": "new data"}


def draw(study: RidgePath, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.noise_variance is not None:
        yield "weights", _weights(outcome)
        return
    if study.ln_count:
        yield "path", _path(study, outcome)
    yield "curves", _curves(study, outcome)


def _name(study: RidgePath, order: int) -> str:
    return f"order {order}" if study.basis == "polynomial" else f"{order} bumps"


def _path(study: RidgePath, outcome: Outcome) -> Figure:
    figure, axes = tiles(len(study.orders) + 1, "ln λ", "root mean square error")
    penalty = outcome["dof"].along("penalty")
    on_path = penalty > 0
    ln = np.log(penalty[on_path])
    for i, order in enumerate(study.orders):
        rms = {
            name: np.median(np.sqrt(outcome[f"{name}_loss"].values[i]), axis=-1)
            for name in LABELS
            if f"{name}_loss" in outcome
        }
        for j, (name, label) in enumerate(LABELS.items()):
            if name in rms:
                axes[i].plot(ln, rms[name][on_path], color=f"C{j}", label=label)
        name = _name(study, order)
        axes[i].set(title=name, ylim=_limits(rms))
        axes[-1].plot(ln, outcome["dof"].values[i, on_path], color=f"C{i}", label=name)
    axes[-1].set(ylabel="effective degrees of freedom", title="flexibility")
    if len(study.orders) > 1:
        axes[-1].legend()
    legend_of(figure, axes[0], 4)
    return figure


def _limits(rms: dict[str, Floats]) -> tuple[float, float]:
    """Room for the error on new data; where it is unknown, for what is worth choosing from."""
    left_out = [rms[name].min() for name in ("loo", "kfold") if name in rms]
    high = 1.1 * rms["test"].max() if "test" in rms else 2 * min(left_out)
    low = rms["training"].min()
    return (0.8 * low if low > high / 4 else 0.0), high


def _curves(study: RidgePath, outcome: Outcome) -> Figure:
    curves, t = outcome["curve"], outcome["targets"].values[0]
    shown = curves.along("shown_penalty")
    figure, axes = tiles(len(shown), *column_names(study.data), sharex=True, sharey=True)
    for k, (ax, value) in enumerate(zip(axes, shown, strict=True)):
        ax.plot(outcome["inputs"], t, "o", color="black", markersize=4, label="data")
        for order, curve in zip(study.orders, curves.values[:, k], strict=True):
            ax.plot(curves.along("x"), curve, label=_name(study, order))
        ax.set_title(f"λ = {value:.4g}")
        around(ax, t, 1 / 3)
    legend_of(figure, axes[0], 4)
    return figure


def _weights(outcome: Outcome) -> Figure:
    """Weights of the first order by both routes, and the prior that matches each penalty."""
    ridge, most_probable = outcome["weight"].values[0], outcome["map_weight"].values[0]
    variance = outcome["prior_variance"]
    penalty = variance.along("penalty")
    figure, (left, right) = panels(1, 2)
    for j in range(ridge.shape[-1]):
        look: dict[str, Any] = {"color": f"C{j % 8}"}
        left.plot(penalty, ridge[:, j], "--" if j >= 8 else "-", label=f"$w_{{{j}}}$", **look)
        left.plot(penalty, most_probable[:, j], "o", markerfacecolor="none", **look)
    left.set(xlabel="λ", ylabel="weight", xscale="log", yscale="symlog")
    left.set_title("lines: least squares with penalty\ncircles: most probable under the prior")
    right.plot(penalty, variance, "o-", color="black")
    right.set(xlabel="λ", ylabel="matching prior variance", xscale="log", yscale="log")
    legend_of(figure, left, min(ridge.shape[-1], 10))
    return figure
