"""Errors and flexibility against the penalty, fits under a few, and the matching priors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, legend_once
from experiments.drawing.clusters import grid
from experiments.drawing.curves import around, column_names, tiles
from experiments.studies.regression.ridge_path import RidgePath
from models.types import Floats

LABELS = {"training": "training", "loo": "leave-one-out", "kfold": "folds", "test": "new data"}
DASHES = ("-", "--", "-.", ":")


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
            name: np.median(np.sqrt(outcome[f"{name}_loss"].values[i, on_path]), axis=-1)
            for name in LABELS
            if f"{name}_loss" in outcome
        }
        for j, (name, label) in enumerate(LABELS.items()):
            if name in rms:
                axes[i].plot(ln, rms[name], color=f"C{j}", label=label)
        name = _name(study, order)
        axes[i].set(title=name)
        _scale(axes[i], rms)
        # Inks of their own: the colours are those of the errors.
        dof = outcome["dof"].values[i, on_path]
        axes[-1].plot(ln, dof, DASHES[i % 4], color="0.25", label=name)
    axes[-1].set(ylabel="effective degrees of freedom", title="flexibility")
    if len(study.orders) > 1:
        axes[-1].legend()
    legend_of(figure, axes[0], 4)
    return figure


def _scale(ax: Axes, rms: dict[str, Floats]) -> None:
    """Linear for what is worth choosing from, decades above it: nothing leaves the panel."""
    left_out = [rms[name].min() for name in ("loo", "kfold") if name in rms]
    high = 1.1 * rms["test"].max() if "test" in rms else 2 * min(left_out)
    low, top = rms["training"].min(), max(c[np.isfinite(c)].max() for c in rms.values())
    start = 0.8 * low if low > high / 4 else 0.0
    if top <= 1.5 * high:
        ax.set_ylim(start, 1.05 * top)
        return
    ticks = [tick for tick in MaxNLocator(5).tick_values(start, high) if start <= tick <= high]
    decades = 10.0 ** np.arange(np.ceil(np.log10(high)), np.log10(top))
    ax.set_yscale("symlog", linthresh=ticks[-1], linscale=2)
    ax.set_yticks([*ticks, *decades], [f"{tick:g}" for tick in (*ticks, *decades)])
    ax.set_ylim(start, 1.3 * top)
    ax.minorticks_off()
    if start < ticks[-1]:
        ax.axhline(ticks[-1], color="0.7", linewidth=0.8, linestyle=":")


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
    figure, axes = grid(1, 3, 0.95)
    path, both, prior = axes[0]
    hollow: dict[str, Any] = {"color": "C0", "markerfacecolor": "none", "markersize": 6}
    path.plot(penalty, ridge, "-", color="0.5", linewidth=1.2)
    path.plot(penalty, most_probable, "o", **hollow)
    path.plot([], [], "-", color="0.5", linewidth=1.2, label="least squares with penalty")
    path.plot([], [], "o", label="most probable under the prior", **hollow)
    path.set(xlabel="λ", ylabel="weight", xscale="log", yscale="symlog")
    path.set_title(f"all {ridge.shape[-1]} weights")
    both.plot(ridge.ravel(), most_probable.ravel(), "o", **hollow)
    ends = [ridge.min(), ridge.max()]
    both.plot(ends, ends, "--", color="C1", linewidth=1.2, label="equal")
    both.set(xlabel="least squares with penalty", ylabel="most probable")
    both.set(xscale="symlog", yscale="symlog", title="at every λ")
    prior.plot(penalty, variance, "s-", color="black")
    prior.set(xlabel="λ", ylabel="prior variance", xscale="log", yscale="log")
    prior.set_title("the prior that matches")
    legend_once(figure, axes[0], 3)
    return figure
