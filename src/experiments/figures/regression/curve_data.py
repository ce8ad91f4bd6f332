"""The first data set with the true curve, and the band of one standard deviation about it."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import legend_below
from experiments.drawing.curves import band, column_names
from experiments.studies.regression.curve_data import CurveData


def draw(study: CurveData, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    x, t = outcome["inputs"].values[0], outcome["targets"].values[0]
    known = "truth" in outcome
    figure, axes = panels(1, 1 + known, squeeze=False, sharey=True)
    left, right = axes[0, 0], axes[0, -1]
    x_name, t_name = column_names(study.data)
    left.plot(x, t, "o", color="C0", label="data")
    left.set(xlabel=x_name, ylabel=t_name, title=f"{len(x)} points")
    if known:
        grid, h = outcome["truth"].along("x"), outcome["truth"].values
        left.plot(grid, h, color="C2", label=study.curve)
        right.plot(grid, h, color="C2", label="mean")
        look = {"color": "C1", "alpha": 0.25, "label": "one standard deviation"}
        band(right, grid, h - study.noise, h + study.noise, **look)
        right.set(xlabel=x_name, title="p(t | x)")
        for ax in (left, right):
            legend_below(ax, 2)
    yield "data", figure
