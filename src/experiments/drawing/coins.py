"""The figures of the coin studies: densities of r, their path, and winning probabilities."""

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.contract.legacy import Outcome
from experiments.drawing.clusters import grid, spare, whole_steps
from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("-", "--", "-.", ":")  # a second cue beside the colour


def densities(
    r: Floats, curves: Floats, titles: list[str], labels: list[str], columns: int
) -> "Figure":
    """A panel for every density of curves (panels, lines, r)."""
    many = len(titles)
    figure, axes = grid(-(-many // columns), columns, 0.6 if columns == 1 else 0.75, sharex=True)
    highest = curves.max(-1, keepdims=True, where=np.isfinite(curves), initial=0)
    seen = r[np.any(curves > 0.002 * highest, axis=(0, 1))]
    limits = np.floor(10 * seen[0]) / 10, np.ceil(10 * seen[-1]) / 10
    for k, ax in enumerate(axes.flat[:many]):
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
    spare(axes.flat[many:])
    figure.legend(loc="outside lower center", ncols=min(len(labels), 3))
    return figure


def path(outcome: Outcome, names: list[str], labels: list[str]) -> "Figure":
    """Mean and variance of r over the tosses."""
    from experiments.drawing.canvas import panels

    table = outcome.tables["path"]
    steps, tail = np.array(table["tosses"]), np.diff(table["heads"]) == 0
    few = len(steps) <= 40  # heads and tails can be told apart
    figure, axes = panels(1, 2)
    for ax, what in zip(axes, ("mean", "variance"), strict=True):
        for i, (name, label) in enumerate(zip(names, labels, strict=True)):
            values = np.array(table[f"{what}_{name}"])
            ax.plot(steps, values, LINES[i % 4], color=f"C{2 * i}", label=f"prior {label}")
            if few:
                after = values[1:]
                ax.plot(steps[1:][~tail], after[~tail], "o", color="C0", label="after a head")
                ax.plot(steps[1:][tail], after[tail], "v", color="C1", label="after a tail")
        ax.set(xlabel="tosses", ylabel=f"{what} of r")
        whole_steps(ax)
    found = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=3)
    return figure


def win(outcome: Outcome, labels: list[str]) -> "Figure":
    """Winning probabilities of every prior and stage, averaged and at a point."""
    from experiments.drawing.canvas import panels

    rows = outcome.tables["beliefs"]
    place = np.arange(len(rows["win"]))
    figure, ax = panels()
    kinds = {"win": "averaged over the posterior", "plugin_win": "at the posterior mean"}
    for k, (column, label) in enumerate(kinds.items()):
        look: dict[str, Any] = {"color": f"C{2 * k}", "hatch": "//" * k, "label": label}
        bars = ax.bar(place + 0.4 * k - 0.2, rows[column], width=0.38, edgecolor="white", **look)
        ax.bar_label(bars, fmt="%.4f", fontsize="x-small", padding=1)
    ax.axhline(0.5, color="black", linewidth=1, linestyle=":")
    stages = len(place) // len(labels)
    ticks = [
        f"{labels[k // stages]},\n{rows['heads'][k]:g} heads\nin {rows['tosses'][k]}" for k in place
    ]
    ax.set_xticks(place, ticks, fontsize="x-small" if len(ticks) > 3 else "small")
    ax.set(ylabel="probability of winning", ylim=(0, max(rows["win"] + rows["plugin_win"]) + 0.08))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def tosses(outcome: Outcome) -> "Figure":
    """The heads so far, and which toss was which."""
    from experiments.drawing.canvas import panels

    table = outcome.tables["path"]
    steps, heads = np.array(table["tosses"]), np.array(table["heads"])
    tail = np.diff(heads) == 0
    figure, ax = panels()
    ax.step(steps, heads, where="post", color="0.6", linewidth=1)
    ax.plot(steps[1:][~tail], heads[1:][~tail], "o", color="C0", label="head")
    ax.plot(steps[1:][tail], heads[1:][tail], "v", color="C1", label="tail")
    for end in outcome.arrays["customer_ends"][:-1]:
        ax.axvline(end + 0.5, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="tosses (dotted: the next customer)", ylabel="heads so far", ylim=(0, None))
    whole_steps(ax)
    ax.legend(loc="upper left")
    return figure
