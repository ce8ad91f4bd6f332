"""The counts, and the components of the fitted mixture."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.clustering.poisson_clusters import PoissonClusters


def draw(study: PoissonClusters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    x, part = outcome["counts"].values, outcome["part"]
    figure, ax = subplots()
    places = part.coord("count").astype(int)
    share = np.bincount(x.astype(int), minlength=len(places)) / len(x)
    ax.bar(places, share, color="0.8", label="observed")
    for k, rate in enumerate(outcome["rate"].values):
        label = f"rate {rate:.2f}"
        ax.plot(places, part.values[:, k], "o-", markersize=4, color=f"C{k}", label=label)
    ax.plot(places, part.values.sum(axis=1), "k--", label="mixture")
    ax.set(xlabel="Count", ylabel="Probability")
    ax.legend()
    yield "counts", figure
