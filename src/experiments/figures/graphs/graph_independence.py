"""The graphs, and the dependence of drawn distributions for each statement."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.plotting.clustering import hide_unused
from bythebook.experiments.studies.graphs._named import Named
from bythebook.experiments.studies.graphs.graph_independence import (
    GraphIndependence,
    parsed_statement,
)
from bythebook.models.graphs.structure import arrows


def draw(study: GraphIndependence, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    known = study.known
    columns = min(len(known), 3)
    figure, axes = subplots(-(-len(known) // columns), columns, squeeze=False)
    for ax, (name, one) in zip(axes.flat, known.items(), strict=False):
        text = next((t for t in study.statements if parsed_statement(t)[0] == name), "")
        _graph(ax, one, parsed_statement(text)[3])
        ax.set_title(name)
    hide_unused(axes.flat[len(known) :])
    yield "graphs", figure

    figure, ax = subplots()
    gaps = np.maximum(outcome["dependence"].values, 1e-17)
    stated = outcome["separated"].values
    for color, some, label in (("C0", stated, "stated"), ("C1", ~stated, "not stated")):
        height = np.repeat(-np.flatnonzero(some), gaps.shape[1])
        ax.semilogx(gaps[some].ravel(), height, ".", color=color, alpha=0.6, label=label)
    size = "x-small" if len(gaps) > 8 else "small"
    ax.set_yticks(-np.arange(len(gaps)), study.statements, fontsize=size)
    ax.set(xlabel="largest dependence of each random distribution")
    ax.grid(axis="y", visible=False)
    shared_legend(figure, ax, 2)
    yield "dependence", figure


def _graph(ax: Axes, one: Named, given: list[str]) -> None:
    """The graph; in a lattice the conditions of the first statement are filled."""
    rows = _lattice(one)
    pairs = [
        (one.nodes[i], one.nodes[j]) for i, j in (arrows(one.graph) if one.directed else one.joined)
    ]
    if one.directed:
        above = {name: [a for a, b in pairs if b == name] for name in one.nodes}
        places = rows or graphs.layered_layout(above)
        graphs.arrows(ax, places, pairs)
    else:
        places = rows or graphs.circular_layout(one.nodes)
        graphs.links(ax, places, pairs, linestyle="-")
    graphs.nodes(ax, places, given if rows else ())


def _lattice(one: Named) -> dict[str, tuple[float, float]]:
    """Places of nodes numbered row by row, if all links are to the next in a row or a column."""
    if len(one.nodes) < 9 or not all(name.isdigit() for name in one.nodes):
        return {}
    steps = {abs(int(one.nodes[i]) - int(one.nodes[j])) for i, j in one.joined}
    if len(steps) != 2 or min(steps) != 1:
        return {}
    wide = max(steps)
    return {
        name: (0.8 * ((int(name) - 1) % wide), -((int(name) - 1) // wide)) for name in one.nodes
    }
