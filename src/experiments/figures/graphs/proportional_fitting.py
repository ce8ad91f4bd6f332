"""Marginals sweep by sweep; the given table next to its fit."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.graphs.proportional_fitting import ProportionalFitting

SHOWN = 40  # sweeps
FLOOR = 1e-17


def draw(study: ProportionalFitting, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.table:
        yield "table", _table(outcome)
    if not study.draws:
        return
    figure, (left, right) = subplots(1, 2)
    for k, graph in enumerate(study.graphs):
        style = "-" if outcome["decomposable"].sel(graph=graph).item else "--"
        gap = np.median(outcome["margin_gap"].sel(graph=graph).values, axis=0)[: SHOWN + 1]
        left.semilogy(np.maximum(gap, FLOOR), style, color=f"C{k}", label=graph)
    left.set(xlabel="sweep", ylabel="largest error of a marginal, median")
    gradient, scaling = outcome["gradient_passes"].values, outcome["scaling_passes"].values
    right.loglog(gradient, scaling, "o", ms=5)
    ends = [gradient.min(), scaling.max()]
    right.plot(ends, ends, color="0.6", lw=1)
    right.set(xlabel="passes along the gradient", ylabel="passes of iterative scaling")
    shared_legend(figure, left, 3)
    yield "sweeps", figure


def _table(outcome: Outcome) -> Figure:
    figure, axes = subplots(1, 2)
    for ax, name in zip(axes, ("counted", "fitted"), strict=True):
        values = outcome[name].values
        ax.imshow(values, cmap="Blues", vmin=0, vmax=1.6 * values.max())
        for i, j in np.ndindex(values.shape):
            ax.text(j, i, f"{values[i, j]:g}", ha="center", va="center")
        ax.set_xticks(range(values.shape[1]), [f"{v:g}" for v in values.sum(0)])
        ax.set_yticks(range(values.shape[0]), [f"{v:g}" for v in values.sum(1)])
        ax.set(title=name, xlabel="sums of columns", ylabel="sums of rows")
        ax.grid(visible=False)
    return figure
