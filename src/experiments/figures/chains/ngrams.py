"""Letters and pairs as squares; bits per symbol of each order; or texts of each order."""

import textwrap
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.ngrams import Ngrams
from bythebook.models.types import Floats

SINGLE = -3  # place of the column of single letters


def draw(study: Ngrams, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.unit == "letters":
        yield "letters", _letters(outcome)
    if study.generated:
        yield "written", _written(study, outcome)
    yield "bits", _bits(study, outcome)


def _letters(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    names = [str(name) for name in outcome["symbol_count"].coord("symbol")]
    _squares(ax, outcome["symbol_count"].values[:, None].astype(float), SINGLE)
    _squares(ax, outcome["pair_count"].values.astype(float), 0)
    size = len(names)
    ax.set(xlim=(SINGLE - 1, size), ylim=(size, -1), aspect="equal")
    ax.set_yticks(range(size), names, fontsize=6)
    ax.set_xticks([SINGLE, *range(size)], ["alone", *names], fontsize=6)
    ax.set(ylabel="letter", xlabel="next letter")
    ax.grid(visible=False)
    return figure


def _squares(ax: Axes, counts: Floats, left: int) -> None:
    """A Hinton diagram: the area of a square is proportional to its entry."""
    rows, columns = counts.shape
    ax.add_patch(Rectangle((left - 0.6, -0.6), columns + 0.2, rows + 0.2, color="black"))
    sides = np.sqrt(counts / counts.max())
    patches = [
        Rectangle((left + j - s / 2, i - s / 2), s, s)
        for (i, j), s in np.ndenumerate(sides)
        if s > 0.02
    ]
    ax.add_collection(PatchCollection(patches, facecolor="white", edgecolor="none"))


def _written(study: Ngrams, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    ax.axis("off")
    lines = []
    for n in sorted(study.orders):
        text = str(outcome["written"].sel(order=n).item)
        lines += [f"n = {n}", *textwrap.wrap(text, 62)[:3], ""]
    ax.text(0, 1, "\n".join(lines), va="top", family="monospace", fontsize=7)
    return figure


def _bits(study: Ngrams, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    orders = outcome["held_bits"].coord("order")
    k = 0
    for size in study.vocabularies:
        for name in study.methods:
            held = outcome["held_bits"].sel(vocabulary=size, method=name).values.mean(0)
            train = outcome["train_bits"].sel(vocabulary=size, method=name).values.mean(0)
            label = name + (f", {size} words" if size else "")
            ax.plot(orders, train, "--", color=f"C{k % 10}", lw=1)
            if np.isfinite(held).any():
                ax.plot(orders, held, "o-", color=f"C{k % 10}", label=label)
            else:
                ax.plot([], [], "x", color=f"C{k % 10}", label=f"{label}: infinite")
            k += 1
    ax.set(xlabel="n", ylabel=f"bits a {study.unit[:-1]}; dashed: training", xticks=orders)
    shared_legend(figure, ax, 3)
    return figure
