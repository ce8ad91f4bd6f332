"""The log likelihood as a component shrinks; the share of starts that collapse."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.studies.clustering.mixture_singularity import MixtureSingularity

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
    widths = np.power(10.0, -L.coord("decade"))
    posterior, single = outcome["log_posterior"].values, outcome["single_log_likelihood"].values
    figure, (left, right) = subplots(1, 2)
    left.plot(widths, L.values, marker="o", color="C0")
    left.set(title="The likelihood of two components,\none of them shrinking")
    left.set_ylabel("Log likelihood (nats)")
    # The others fall by powers of ten, where the likelihood rises by a few nats a decade.
    right.plot(widths, -posterior, marker="s", color="C2", label="two components, with a prior")
    right.plot(widths, -single, marker="o", color="C1", label="a single Gaussian")
    right.set(title="What bounds the collapse", yscale="log")
    right.set_ylabel("Minus log posterior, minus log likelihood")
    right.legend(loc="upper left")
    for ax in (left, right):
        ax.set(xlabel="Width σ", xscale="log")
        ax.invert_xaxis()
    return figure


def _collapsed(study: MixtureSingularity, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    collapsed = outcome["collapsed"]
    ks = collapsed.coord("k")
    for i, method in enumerate(study.methods):
        mark = {"marker": MARKERS[i], "linestyle": ("-", "--", "-.", ":")[i]}
        share = collapsed.values[i] / study.restarts
        ax.plot(ks, share, color=f"C{i}", label=LABELS[method], **mark)
    ax.set(xlabel="Number of components K", ylabel="Share of starts that collapse")
    ax.set(xticks=ks, ylim=(-0.02, 1.02))
    ax.legend(loc="upper left")
    return figure
