"""The binary data as drawn, and sorted by cluster."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import grid
from experiments.studies.clustering.binary_clusters import BinaryClusters


def draw(study: BinaryClusters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    X, labels = outcome["points"].values, outcome["labels"].values
    figure, axes = grid(1, 2, 1.1)
    ticks = range(0, study.dimensions, max(1, study.dimensions // 10))
    shown = {"Objects as drawn": X, "Objects by cluster": X[np.argsort(labels, kind="stable")]}
    for ax, (title, rows) in zip(axes[0], shown.items(), strict=True):
        ax.imshow(rows, aspect="auto", cmap="Greys", interpolation="nearest", vmax=1.25)
        ax.set_xticks(ticks, [str(i + 1) for i in ticks])
        ax.set(xlabel="Variable", title=title)
        ax.grid(visible=False)
    for edge in np.cumsum(np.bincount(labels, minlength=study.k))[:-1]:
        axes[0, 1].axhline(edge - 0.5, color="C1")
    axes[0, 0].set_ylabel("Object (black is 1)")
    yield "clusters", figure
