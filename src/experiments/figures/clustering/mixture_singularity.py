"""The log likelihood as a component shrinks; the share of starts that collapse."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import SYMBOLS, legend_below
from experiments.studies.clustering.mixture_singularity import MixtureSingularity

LABELS = {
    "ml": "maximum likelihood",
    "reset": "reset what collapses",
    "map": "MAP with a prior",
    "vb": "variational Bayes",
}


def draw(study: MixtureSingularity, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.k:
        yield "collapsed", _collapsed(study, outcome)
    else:
        yield "collapse", _collapse(outcome)


def _collapse(outcome: Outcome) -> Figure:
    L = outcome["log_likelihood"]
    widths = np.power(10.0, -L.along("decade"))
    figure, (left, right) = panels(1, 2)
    left.plot(widths, L.values, marker="o", color="C0", label="log likelihood")
    posterior = outcome["log_posterior"].values
    left.plot(widths, posterior, marker="o", color="C2", label="log posterior with a prior")
    low, height = L.values.min(), np.ptp(L.values)
    left.set(title="Two components, one of them shrinking", ylabel="Natural log units")
    left.set_ylim(low - height, low + 2 * height)
    legend_below(left, 2)
    right.plot(widths, -outcome["single_log_likelihood"].values, marker="o", color="C1")
    right.set(title="A single Gaussian shrinking", yscale="log", ylabel="Minus log likelihood")
    for ax in (left, right):
        ax.set(xlabel="Width σ", xscale="log")
        ax.invert_xaxis()
    return figure


def _collapsed(study: MixtureSingularity, outcome: Outcome) -> Figure:
    figure, ax = panels()
    collapsed = outcome["collapsed"]
    ks = collapsed.along("k")
    for i, method in enumerate(study.methods):
        mark = {"marker": SYMBOLS[i], "linestyle": ("-", "--", "-.", ":")[i]}
        share = collapsed.values[i] / study.restarts
        ax.plot(ks, share, color=f"C{i}", label=LABELS[method], **mark)
    ax.set(xlabel="Number of components K", ylabel="Share of starts that collapse")
    ax.set(xticks=ks, ylim=(-0.02, 1.02))
    ax.legend(loc="upper left")
    return figure
