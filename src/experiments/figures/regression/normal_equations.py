"""The least-squares line, and the one that favours the circled points."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.normal_equations import NormalEquations


def draw(study: NormalEquations, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names, grid = axis_names(study.data), outcome["curve"].along("x")
    plain, weighted = outcome["curve"].values
    x, t = outcome["inputs"].values, outcome["targets"].values
    figure, ax = panels()
    ax.plot(grid, plain, label="least squares")
    ax.plot(x, t, "o", color="black", label="data")
    if study.favour != 1:
        label = f"weight {study.favour:g} for the circled"
        ax.plot(grid, weighted, "--", color="C1", label=label)
        circled = slice(0, study.favoured)
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": "C1"}
        ax.plot(x[circled], t[circled], "o", **ring)
    ax.set(xlabel=names.x, ylabel=names.t)
    ax.legend()
    yield "lines", figure
