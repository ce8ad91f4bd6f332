"""Coupling of tables for each type of data, and the log likelihood by iteration of EM."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.network_parameters import NetworkParameters
from bythebook.models.types import Floats

ZERO = 1e-9  # second derivatives below are rounding


def draw(study: NetworkParameters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    words = {
        "complete": "complete data",
        "missing": f"{100 * max(study.missing):g} % missing",
        "hidden": f"{', '.join(study.hidden) or 'nothing'} hidden",
        "expected": "objective of the M step",
    }
    figure, axes = subplots(2, 2)
    for ax, (kind, title) in zip(axes.flat, words.items(), strict=True):
        share = (outcome["coupling"].sel(kind=kind).values > ZERO).mean(0)
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1.4)
        for i, j in np.ndindex(*share.shape):
            if i != j:
                ax.text(j, i, "x" if share[i, j] > 0 else "0", ha="center", va="center")
        ax.set_xticks(range(len(study.names)), study.names)
        ax.set_yticks(range(len(study.names)), study.names)
        ax.set_title(title, fontsize="small")
        ax.grid(visible=False)
    figure.supxlabel("x: two tables are coupled, 0: they are not", fontsize="small")
    yield "coupling", figure

    figure, ax = subplots()
    log_likelihood = outcome["log_likelihood"]
    step = log_likelihood.coord("iteration")[:-1]  # the last is the reference for the others
    for k, share in enumerate(study.missing):
        values = log_likelihood.sel(missing=share).values
        ax.plot(step, _left(values), color=f"C{k}", label=f"{100 * share:g} % missing")
    if study.hidden:
        name = f"{', '.join(study.hidden)} hidden"
        ax.plot(step, _left(outcome["hidden_log_likelihood"].values), "k--", label=name)
    ax.set_yscale("symlog", linthresh=1e-6)
    ax.set(xlabel="iteration of EM", ylabel="log likelihood below the last, mean")
    ax.set_ylim(bottom=0)
    ax.legend()
    yield "climb", figure


def _left(values: Floats) -> Floats:
    """Gap of each step to the last one, averaged over draws."""
    return np.asarray((values[:, -1:] - values[:, :-1]).mean(0))
