"""Most probable structures of one data set, the true class as data grow, predictions."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.structure_learning import StructureLearning

SHOWN = 10  # structures of the first panel
PRIOR = "one observation"


def draw(study: StructureLearning, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    _best(left, study, outcome)
    for k, prior in enumerate(outcome["true_class_posterior"].coord("prior")):
        p = outcome["true_class_posterior"].sel(prior=prior).values
        label = f"prior: {prior}"
        right.semilogx(study.sizes, p.mean(1), "os"[k] + "-", color=f"C{k}", label=label)
        spread = np.quantile(p, [0.1, 0.9], axis=1)
        right.fill_between(study.sizes, *spread, color=f"C{k}", alpha=0.15, lw=0)
    right.set(xlabel="data points", ylabel="probability of the true class", ylim=(0, 1.02))
    right.set_xticks(study.sizes, [str(N) for N in study.sizes])
    right.xaxis.set_minor_locator(NullLocator())
    right.set_title("mean of data sets, and the middle eight of ten", fontsize="small")
    right.legend()
    yield "posterior", figure
    if study.steps:
        yield "predictions", _predictions(study, outcome)


def _best(ax: Axes, study: StructureLearning, outcome: Outcome) -> None:
    """The most probable structures given one data set of the largest size."""
    N = max(study.sizes)
    p = outcome["posterior"].sel(prior=PRIOR, N=N)
    order = np.argsort(-p.values, kind="stable")[:SHOWN]
    own = outcome["in_true_class"].values[order]
    names = [str(name).replace(">", "→") for name in p.coord("structure")[order]]
    ax.barh(range(len(order)), p.values[order], 0.7, color=np.where(own, "C0", "0.7").tolist())
    ax.set_yticks(range(len(order)), names)
    ax.invert_yaxis()
    ax.set(xlabel=f"P(structure | {N} data points)")
    ax.set_title("blue: same independences as the true one", fontsize="small")
    ax.grid(axis="y", visible=False)


def _predictions(study: StructureLearning, outcome: Outcome) -> Figure:
    """New data under the best structure and under structures sampled, data set by data set."""
    figure, axes = subplots(1, len(study.sizes), squeeze=False)
    for ax, N in zip(axes.flat, study.sizes, strict=True):
        best, others = (
            outcome[f"held_out_{way}"].sel(prior=PRIOR, N=N).values for way in ("best", "sampled")
        )
        ax.plot(best, others, "o", ms=3.5, alpha=0.7)
        ax.axline((best.mean(), best.mean()), slope=1, color="0.6", lw=1, zorder=0)
        ax.set(xlabel="best structure", ylabel="structures sampled")
        ax.set_title(f"log probability of a new point, {N} points seen", fontsize="small")
    return figure
