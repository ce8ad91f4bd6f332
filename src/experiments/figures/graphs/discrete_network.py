"""A panel a query: bars of probabilities, those of the first variable upon each other."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome, Quantity
from experiments.drawing.canvas import legend_once, panels
from experiments.drawing.clusters import spare
from experiments.studies.graphs.discrete_network import DiscreteNetwork, quantity_name


def draw(study: DiscreteNetwork, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    queries = {query: study.asked[query] for query in study.show or study.asked}
    columns = min(len(queries), 3)
    figure, axes = panels(-(-len(queries) // columns), columns, squeeze=False)
    inks: dict[str, str] = {}
    for ax, (of, given) in zip(axes.flat, queries.values(), strict=False):
        _bars(ax, of, given, outcome[quantity_name(of, given)], inks)
    spare(axes.flat[len(queries) :])
    legend_once(figure, axes.flat, 4)
    yield "tables", figure


def _bars(ax: Axes, of: list[str], given: list[str], p: Quantity, inks: dict[str, str]) -> None:
    """`inks` grows: a colour stands for one state of one variable in all panels."""
    first, *rest = of + given
    label = f"P({', '.join(of)}" + (f" | {', '.join(given)})" if given else ")")
    states = list(product(*(p.along(name) for name in rest or of)))
    heights = p.values.reshape(len(p), -1) if rest else p.values[None]
    bottom = np.zeros(heights.shape[1])
    for k, row in enumerate(heights):
        name = f"{first} = {p.along(first)[k]}"
        ink = inks.setdefault(name, f"C{len(inks) % 8}") if rest else "0.6"
        label_of = name if rest else None
        ax.bar(range(len(row)), row, 0.6, bottom=bottom, color=ink, label=label_of)
        bottom = bottom + row
    stacked = f", stacked to P({', '.join(of[1:])})" if rest and not given else ""
    ax.set(xlabel=", ".join(rest or of), ylabel=label + stacked)
    ax.set_xticks(range(len(states)), [", ".join(state) for state in states])
    ax.grid(axis="x", visible=False)
