"""Chains over their target, autocorrelations, and the cost of an independent sample."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.studies.sampling.chain_efficiency import ChainEfficiency
from bythebook.models.sampling.targets import named

PATHS = 3  # kernels whose chains are drawn
STYLES = ("-", "--", ":", "-.")


def draw(study: ChainEfficiency, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield "chains", _chains(study, outcome)
    yield "times", _times(study, outcome)


def _chains(study: ChainEfficiency, outcome: Outcome) -> Figure:
    """The first states of a chain on the last target of two variables; autocorrelation there."""
    path, curve = outcome["path"], outcome["curve"]
    flat = [name for name in study.targets if named(name).dimension == 2]
    name = flat[-1] if flat else study.targets[0]
    figure, (left, right) = subplots(1, 2)
    if path.values.shape[-1] == 2:
        _contours(left, name)
    for k in range(min(len(study.kernels), PATHS)):
        states = path.sel(target=name, kernel=study.kernels[k]).values
        line, colour = _look(k)
        if states.shape[-1] == 2:
            left.plot(*states.T, line, marker=".", ms=3, lw=0.8, color=colour)
        else:
            left.plot(states[:, 0], line, lw=1, color=colour)
    words = ("$z_1$", "$z_2$") if path.values.shape[-1] == 2 else ("step", "$z$")
    left.set(xlabel=words[0], ylabel=words[1], title=f"a chain on {name}")
    if path.values.shape[-1] == 2:
        left.set_aspect("equal", adjustable="datalim")
    for k, kernel in enumerate(study.kernels):
        line, colour = _look(k)
        rho = curve.sel(target=name, kernel=kernel)
        right.plot(rho.coord("curve_lag"), rho.values, line, color=colour, label=kernel)
    right.axhline(0, color="0.6", lw=0.8, zorder=0)
    right.set(xlabel="lag, steps", ylabel="autocorrelation", ylim=(-1.05, 1.05))
    merged_legend(figure, (left, right), 4)
    return figure


def _look(k: int) -> tuple[str, str]:
    """Line and colour of a kernel: eight colours, then the next line."""
    return STYLES[k // 8 % 4], f"C{k % 8}"


def _contours(ax: Axes, name: str) -> None:
    """One and two standard deviations of a Gaussian; no contours of other targets."""
    target = named(name)
    if len(target.deviations) == 2:
        covariance = (target.directions * target.deviations**2) @ target.directions.T
        for radius in (1.0, 2.0):
            ax.plot(*ellipse(np.zeros(2), covariance, radius, 120), color="0.6", lw=1, zorder=0)


def _times(study: ChainEfficiency, outcome: Outcome) -> Figure:
    """Autocorrelation times along the longest direction, target by target; and acceptance."""
    figure, (left, right) = subplots(1, 2)
    place = np.arange(len(study.targets))
    time = np.median(outcome["time"].values[..., -1], axis=-1)  # (target, kernel)
    acceptance = outcome["acceptance"].values.mean(-1)
    for k, kernel in enumerate(study.kernels):
        line, colour = _look(k)
        look: Any = {"marker": "o", "ms": 4, "lw": 1, "color": colour, "label": kernel}
        left.plot(place, np.maximum(time[:, k], 0.1), line, **look)
        right.plot(place, acceptance[:, k], line, **look)
    left.set(yscale="log", ylabel="autocorrelation time, steps")
    right.set(ylabel="share of steps accepted", ylim=(-0.03, 1.03))
    for ax in (left, right):
        ax.set_xticks(place, study.targets, rotation=30, ha="right")
    merged_legend(figure, (left, right), 4)
    return figure
