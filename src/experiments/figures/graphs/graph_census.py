"""The shapes of undirected graphs with how many directed ones state the same; growth of counts."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing import graphs
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import cells
from experiments.studies.graphs.graph_census import GraphCensus


def draw(study: GraphCensus, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    shapes = [str(name) for name in outcome["global_count"].along("shape")]
    figure, axes = cells(len(shapes), 4, 0.9)
    for ax, shape in zip(axes, shapes, strict=True):
        twins = int(outcome["directed_alike"].at(graph=shape).item)
        _shape(ax, shape, max(study.nodes), "C0" if twins else "C3")
        ax.set_title(f"{twins} directed" if twins else "no directed graph", fontsize="small")
    yield "shapes", figure

    figure, ax = panels()
    for name, mark, label in (
        ("directed_count", "o-", "directed, without cycles"),
        ("undirected_count", "s--", "undirected"),
    ):
        ax.semilogy(outcome[name].along("M"), outcome[name].values, mark, label=label)
    ax.set(xlabel="nodes", ylabel="graphs")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend()
    yield "counts", figure


def _shape(ax: Axes, told: str, M: int, ink: str) -> None:
    places = graphs.ring([str(i + 1) for i in range(M)])
    pairs = [] if told == "none" else [tuple(pair.split("-")) for pair in told.split()]
    graphs.links(ax, places, [(a, b) for a, b in pairs], color=ink, lw=2)
    graphs.nodes(ax, places)
