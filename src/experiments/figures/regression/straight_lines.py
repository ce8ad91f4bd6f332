"""A family of lines, or lines through their data down to zero."""

from collections.abc import Iterator

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.straight_lines import StraightLines


def draw(study: StraightLines, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    if study.data:
        _fitted(ax, study, outcome)
        ax.legend()
    else:
        _family(ax, study, outcome)
        ax.legend(loc="upper left")
    yield "lines", figure


def _family(ax: Axes, study: StraightLines, outcome: Outcome) -> None:
    count = len(study.intercepts)
    for k, height in enumerate(outcome["height"].values):
        label = f"$w_0$ = {study.intercepts[k]:g}, $w_1$ = {study.gradients[k]:g}"
        shown = k in (0, count // 2, count - 1)
        colour = colormaps["cividis"](0.9 * k / max(count - 1, 1))
        ends = [study.low, study.high]
        ax.plot(ends, height[[0, -1]], color=colour, label=label if shown else None)
    ax.set(xlabel="x", ylabel="t = $w_0$ + $w_1$ x")


def _fitted(ax: Axes, study: StraightLines, outcome: Outcome) -> None:
    names, grid = axis_names(study.data[0]), outcome["height"].along("x")
    for k, data in enumerate(study.data):
        own = outcome["line_of_point"].values == data
        height, label = outcome["height"].values[k], data.replace("-", " ").capitalize()
        ax.plot(grid, height, ("-", "--")[k], color=f"C{k}", label=label)
        x, t = outcome["inputs"].values[own], outcome["targets"].values[own]
        ax.plot(x, t, "o^"[k], color=f"C{k}", markersize=3)
    meet, w = outcome["crossing"].item, outcome["w"].values[0]
    place = f"the lines meet in {meet:.1f}"
    ax.plot(meet, w[0] + w[1] * meet, "D", color="black", label=place)
    ax.set(xlabel=names.x, ylabel=names.t, ylim=(0, None))
