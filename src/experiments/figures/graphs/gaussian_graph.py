"""One graph per matrix: a line where the inverse is not zero, dashed where the entry is not."""

from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting import graphs
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import hide_unused
from bythebook.experiments.studies.graphs.gaussian_graph import GaussianGraph
from bythebook.models.types import Floats


def draw(study: GaussianGraph, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = list(study.given)
    columns = min(len(names), 4)
    figure, axes = subplots(-(-len(names) // columns), columns, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        _matrix(ax, *(outcome[q].sel(matrix=name).values for q in ("matrix_entry", "inverse")))
        ax.set_title(name)
    hide_unused(axes.flat[len(names) :])
    figure.suptitle(
        "line: dependent given the rest; dashed: independent otherwise", fontsize="small"
    )
    yield "graphs", figure


def _matrix(ax: Axes, entry: Floats, inverse: Floats) -> None:
    names = [str(k + 1) for k in range(len(entry))]
    pairs = [(i, j) for i in range(len(entry)) for j in range(i)]
    places = graphs.circular_layout(names)
    for i, j in pairs:
        if abs(inverse[i, j]) > 1e-12:
            style = "--" if abs(entry[i, j]) <= 1e-12 else "-"
            graphs.links(ax, places, [(names[i], names[j])], ls=style)
    graphs.nodes(ax, places)
