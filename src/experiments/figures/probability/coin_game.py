"""Densities of a coin's r, their path along the tosses, and winning probabilities."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.plotting.clustering import column_panels, integer_ticks
from bythebook.experiments.studies.probability.coin_game import CoinGame
from bythebook.models.types import AnyArray, Floats

LINES = ("-", "--", "-.", ":")  # a second cue in addition to the colour


def draw(study: CoinGame, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"stages": _stages, "overlay": _overlay, "path": _path, "win": _win, "tosses": _tosses}
    for name in study.show:
        yield name, draws[name](study, outcome)


def _stages(study: CoinGame, outcome: Outcome) -> Figure:
    """One panel per stage: every prior's posterior, or a single one with the previous posterior."""
    density, labels = outcome["density"].values, study.labels
    curves = np.moveaxis(density, 0, 1)  # (S, P, r)
    if len(labels) == 1:
        prior = np.broadcast_to(outcome["prior_density"].values, density[0].shape)
        curves = np.stack([density[0], prior, outcome["previous_density"].values[0]], 1)
        labels = ["posterior", f"prior {labels[0]}", "one toss earlier"]
    titles = [f"after {n} toss{'es' if n > 1 else ''}" if n else "prior" for n in study.stages]
    columns = min(len(titles), 3 if len(titles) > 4 else 2)
    return _densities(outcome["density"].coord("r"), curves, titles, labels, columns)


def _overlay(study: CoinGame, outcome: Outcome) -> Figure:
    """One panel per prior: the posteriors of all stages."""
    labels = [f"after {n} tosses" if n else "prior" for n in study.stages]
    titles = [f"prior {label}" for label in study.labels]
    density = outcome["density"]
    return _densities(density.coord("r"), density.values, titles, labels, min(len(titles), 3))


def _densities(
    r: Floats, curves: Floats, titles: list[str], labels: list[str], columns: int
) -> Figure:
    """A panel for every density of curves (panels, lines, r)."""
    many = len(titles)
    figure, axes = column_panels(many, columns, 0.6 if columns == 1 else 0.75, sharex=True)
    highest = curves.max(-1, keepdims=True, where=np.isfinite(curves), initial=0)
    seen = r[np.any(curves > 0.002 * highest, axis=(0, 1))]
    limits = np.floor(10 * seen[0]) / 10, np.ceil(10 * seen[-1]) / 10
    for k, ax in enumerate(axes):
        for i, curve in enumerate(curves[k]):
            label = labels[i] if k == 0 else None
            look: dict[str, Any] = {"color": f"C{i}", "zorder": 3 - i / 10, "label": label}
            ax.plot(r, curve, LINES[i % 4], **look)  # the first on top
        ax.set(title=titles[k], xlim=limits, ylim=(0, None))
        if k >= many - columns:
            ax.set_xlabel("probability of a head, r")
            ax.tick_params(labelbottom=True)
        if k % columns == 0:
            ax.set_ylabel("density of r")
    figure.legend(loc="outside lower center", ncols=min(len(labels), 3))
    return figure


def _path(study: CoinGame, outcome: Outcome) -> Figure:
    """Mean and variance of r over the tosses."""
    toss = outcome["heads"].coord("toss")
    figure, axes = subplots(1, 2)
    for ax, what in zip(axes, ("mean", "variance"), strict=True):
        for i, label in enumerate(study.labels):
            values = outcome[f"posterior_{what}"].values[i]
            ax.plot(toss, values, LINES[i % 4], color=f"C{2 * i}", label=f"prior {label}")
            if len(toss) <= 40:  # heads and tails can be distinguished
                _heads_and_tails(ax, outcome, values, "after a ")
        ax.set(xlabel="tosses", ylabel=f"{what} of r")
        integer_ticks(ax)
    merged_legend(figure, axes, 3)
    return figure


def _win(study: CoinGame, outcome: Outcome) -> Figure:
    """Winning probabilities of every prior and stage, averaged and at a point."""
    win, plugin = (outcome[f"{kind}win_probability"].values.ravel() for kind in ("", "plugin_"))
    place = np.arange(len(win))
    figure, ax = subplots()
    kinds = {"averaged over the posterior": win, "at the posterior mean": plugin}
    for k, (label, values) in enumerate(kinds.items()):
        look: dict[str, Any] = {"color": f"C{2 * k}", "hatch": "//" * k, "label": label}
        bars = ax.bar(place + 0.4 * k - 0.2, values, width=0.38, edgecolor="white", **look)
        ax.bar_label(bars, fmt="%.4f", fontsize="x-small", padding=1)
    ax.axhline(0.5, color="black", linewidth=1, linestyle=":")
    heads = [outcome["heads"].sel(toss=n).item for n in study.stages]
    ticks = [
        f"{label},\n{y} heads\nin {n}"
        for label in study.labels
        for y, n in zip(heads, study.stages, strict=True)
    ]
    ax.set_xticks(place, ticks, fontsize="x-small" if len(ticks) > 3 else "small")
    ax.set(ylabel="probability of winning", ylim=(0, max(win.max(), plugin.max()) + 0.08))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _tosses(study: CoinGame, outcome: Outcome) -> Figure:
    """The heads so far, and the result of each toss."""
    toss, heads = outcome["heads"].coord("toss"), outcome["heads"].values
    figure, ax = subplots()
    ax.step(toss, heads, where="post", color="0.6", linewidth=1)
    _heads_and_tails(ax, outcome, heads)
    if study.customers:
        for end in np.cumsum(outcome["customer_tosses"].values)[:-1]:
            ax.axvline(end + 0.5, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="tosses (dotted: the next customer)", ylabel="heads so far", ylim=(0, None))
    integer_ticks(ax)
    ax.legend(loc="upper left")
    return figure


def _heads_and_tails(ax: Axes, outcome: Outcome, values: AnyArray, when: str = "") -> None:
    """A mark at the value after each toss, for heads or tails."""
    toss, tail = outcome["heads"].coord("toss")[1:], np.diff(outcome["heads"].values) == 0
    for which, mark, colour, name in ((~tail, "o", "C0", "head"), (tail, "v", "C1", "tail")):
        ax.plot(toss[which], values[1:][which], mark, color=colour, label=when + name)
