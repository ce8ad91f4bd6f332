"""A graph a matrix: lines where the inverse is not zero, dashed where the entry itself is."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing import graphs
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import spare
from experiments.studies.graphs.gaussian_graph import GaussianGraph
from models.types import Floats


def draw(study: GaussianGraph, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.arrows:
        yield "network", _network(outcome)
    if not study.matrices:
        return
    names = list(study.given)
    columns = min(len(names), 4)
    figure, axes = panels(-(-len(names) // columns), columns, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        _matrix(ax, *(outcome[q].at(matrix=name).values for q in ("matrix_entry", "inverse")))
        ax.set_title(name)
    spare(axes.flat[len(names) :])
    figure.suptitle(
        "line: dependent given the rest; dashed: independent otherwise", fontsize="small"
    )
    yield "graphs", figure


def _matrix(ax: Axes, entry: Floats, inverse: Floats) -> None:
    names = [str(k + 1) for k in range(len(entry))]
    pairs = [(i, j) for i in range(len(entry)) for j in range(i)]
    places = graphs.ring(names)
    for i, j in pairs:
        if abs(inverse[i, j]) > 1e-12:
            style = "--" if abs(entry[i, j]) <= 1e-12 else "-"
            graphs.links(ax, places, [(names[i], names[j])], ls=style)
    graphs.nodes(ax, places)


def _network(outcome: Outcome) -> Figure:
    figure, axes = panels(1, 2)
    for ax, name in zip(axes, ("expected", "covariance"), strict=True):
        x, y = outcome[f"{name}_by_matrix"].values.ravel(), outcome[name].values.ravel()
        ax.plot([x.min(), x.max()], [x.min(), x.max()], color="0.6", lw=1)
        ax.plot(x, y, ".", ms=5)
        ax.set(xlabel="all nodes at once", ylabel="node by node", title=name)
    return figure
