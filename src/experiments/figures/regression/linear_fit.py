"""The data, and the curve fitted to them with its predictions."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.linear_fit import LinearFit


def draw(study: LinearFit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names, curve = axis_names(study.data), outcome["curve"]
    x, t = outcome["inputs"].values, outcome["targets"].values
    figure, ax = panels()
    ax.set(xlabel=names.x, ylabel=names.t)
    if study.show == "data":
        ax.plot(x, t, "o")
    else:
        grid = curve.along("x")
        ax.plot(grid, curve.values, label=study.model.replace("_", " "))
        ax.plot(x[x >= grid[0]], t[x >= grid[0]], "o", color="black", label="data")
        if study.predict_at:
            found = outcome["prediction"]
            ax.plot(found.along("input"), found.values, "D", color="C1", label="prediction")
        ax.legend()
    yield study.show, figure
