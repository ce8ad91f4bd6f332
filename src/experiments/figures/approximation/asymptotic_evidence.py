"""Errors of Laplace and BIC against the number of points, model by model."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import column_panels
from bythebook.experiments.studies.approximation.asymptotic_evidence import AsymptoticEvidence

LOOKS = {"laplace": ("C0", "o-", "Laplace"), "bic": ("C3", "s--", "BIC")}


def draw(study: AsymptoticEvidence, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    evidence = outcome["log_evidence"]
    sizes = evidence.coord("points")
    figure, axes = column_panels(len(study.models), 3, 0.9)
    for ax, name in zip(axes, study.models, strict=True):
        truth = evidence.sel(model=name, way="exact").values
        for way, (colour, look, label) in LOOKS.items():
            off = np.abs(evidence.sel(model=name, way=way).values - truth).mean(-1)
            ax.loglog(sizes, np.maximum(off, 1e-12), look, color=colour, label=label)
        ax.set(title=name, xlabel="points")
    axes[0].set_ylabel("error of the log evidence, mean")
    shared_legend(figure, axes[0], 2)
    yield "errors", figure
