"""Shapes of undirected graphs with the number of equivalent directed ones; counts."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import column_panels
from bythebook.experiments.studies.graphs.graph_census import GraphCensus


def draw(study: GraphCensus, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    shapes = [str(name) for name in outcome["global_count"].coord("shape")]
    figure, axes = column_panels(len(shapes), 4, 0.9)
    for ax, shape in zip(axes, shapes, strict=True):
        twins = int(outcome["directed_alike"].sel(graph=shape).item)
        _shape(ax, shape, max(study.nodes), "C0" if twins else "C3")
        ax.set_title(f"{twins} directed" if twins else "no directed graph", fontsize="small")
    yield "shapes", figure

    figure, ax = subplots()
    for name, mark, label in (
        ("directed_count", "o-", "directed, without cycles"),
        ("undirected_count", "s--", "undirected"),
    ):
        ax.semilogy(outcome[name].coord("M"), outcome[name].values, mark, label=label)
    ax.set(xlabel="nodes", ylabel="graphs")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    yield "counts", figure


def _shape(ax: Axes, text: str, M: int, ink: str) -> None:
    places = graphs.circular_layout([str(i + 1) for i in range(M)])
    pairs = [] if text == "none" else [tuple(pair.split("-")) for pair in text.split()]
    graphs.links(ax, places, [(a, b) for a, b in pairs], color=ink, lw=2, linestyle="-")
    graphs.nodes(ax, places)
