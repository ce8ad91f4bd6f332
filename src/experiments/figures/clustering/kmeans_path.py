"""K-means panel by panel, the distortion after each half step, and how long other starts take."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import SYMBOLS, grid, spare
from experiments.drawing.labels import plane_names
from experiments.studies.clustering.kmeans_path import KmeansPath
from models.types import Floats, Ints


def draw(study: KmeansPath, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.panels:
        yield "steps", _steps(study, outcome)
    yield "cost", _cost(outcome)
    yield "starts", _starts(outcome)


def _steps(study: KmeansPath, outcome: Outcome) -> Figure:
    centres, labels = outcome["centres"].values, outcome["labels"].values
    shown = min(study.panels, 2 * len(labels) - 1)
    columns = min(3, shown)
    figure, axes = grid(-(-shown // columns), columns, sharex=True, sharey=True)
    cells = axes.ravel()
    for step, ax in enumerate(cells[:shown]):
        # Step 2t - 1 is the t-th E step, step 2t the t-th M step.
        e, m = (step + 1) // 2, step // 2
        members = None if step == 0 else labels[e - 1]
        _panel(ax, outcome["points"].values, centres[m], members, bisector=step % 2 == 1)
        kind = f"{'ME'[step % 2]} step {e}" if step else "start"
        ax.set_title(f"({'abcdefghijklmnop'[step]}) {kind}")
    spare(cells[shown:])
    x, y = plane_names(study.data, standardised=study.standardise)
    figure.supxlabel(x)
    figure.supylabel(y)
    return figure


def _panel(ax: Axes, X: Floats, centres: Floats, labels: Ints | None, *, bisector: bool) -> None:
    if labels is None:
        ax.plot(*X.T, "o", color="0.6", markersize=2.2)
    for k, centre in enumerate(centres):
        if labels is not None:
            ax.plot(*X[labels == k].T, SYMBOLS[k % 8], color=f"C{k}", markersize=2.2)
        ax.plot(*centre, "X", color=f"C{k}", markersize=9, markeredgecolor="black")
    if bisector and len(centres) == 2:
        middle, across = centres.mean(axis=0), centres[1] - centres[0]
        along = np.array([-across[1], across[0]]) * 10
        ax.plot(*np.stack([middle - along, middle + along]).T, color="C3")
    ends = np.stack([X.min(axis=0) - 0.4, X.max(axis=0) + 0.4, *(centres - 0.3), *(centres + 0.3)])
    ax.set(xlim=(ends[:, 0].min(), ends[:, 0].max()), ylim=(ends[:, 1].min(), ends[:, 1].max()))


def _cost(outcome: Outcome) -> Figure:
    J = outcome["distortion"].values
    steps = np.arange(1, len(J) + 1)
    figure, ax = panels()
    ax.plot(steps, J, color="0.6", zorder=1)
    ax.plot(steps[::2], J[::2], "o", color="C0", markersize=7, label="after an E step")
    ax.plot(steps[1::2], J[1::2], "s", color="C1", markersize=7, label="after an M step")
    ax.set(xlabel="Half step", ylabel="Distortion J", ylim=(0, None))
    ax.set_xticks(steps, outcome["distortion"].along("half_step"))
    ax.legend()
    return figure


def _starts(outcome: Outcome) -> Figure:
    counts = np.bincount(outcome["cycles"].values - 1)  # the last cycle changes nothing
    places = range(len(counts))
    figure, ax = panels()
    ax.bar(places, counts / counts.sum(), color="C0")
    chosen = outcome["centres"].along("cycle")[-1] - 1
    ax.plot(chosen, 0, "D", color="C1", clip_on=False, label="the start that is drawn")
    ax.set(
        xlabel="M steps until nothing changes", ylabel="Share of the starts", xticks=list(places)
    )
    ax.legend()
    return figure
