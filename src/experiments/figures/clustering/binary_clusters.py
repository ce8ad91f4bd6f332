"""Binary data as drawn and sorted by cluster; log likelihood from equal and random starts."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import MARKERS, legend_below, panel_grid, plot_traces
from bythebook.experiments.studies.clustering.binary_clusters import SHOWN, BinaryClusters


def draw(study: BinaryClusters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.equal:
        yield "objective", _climb(study, outcome)
    else:
        yield "clusters", _clusters(study, outcome)


def _clusters(study: BinaryClusters, outcome: Outcome) -> Figure:
    X, labels = outcome["points"].values, outcome["labels"].values
    figure, axes = panel_grid(1, 2, 1.1)
    ticks = range(0, study.dimensions, max(1, study.dimensions // 10))
    shown = {"Objects as drawn": X, "Objects by cluster": X[np.argsort(labels, kind="stable")]}
    for ax, (title, rows) in zip(axes[0], shown.items(), strict=True):
        ax.imshow(rows, aspect="auto", cmap="Greys", interpolation="nearest", vmax=1.25)
        ax.set_xticks(ticks, [str(i + 1) for i in ticks])
        ax.set(xlabel="Variable", title=title)
        ax.grid(visible=False)
    for edge in np.cumsum(np.bincount(labels, minlength=study.k))[:-1]:
        axes[0, 1].axhline(edge - 0.5, color="C1")
    axes[0, 0].set_ylabel("Object (filled is 1)")
    return figure


def _climb(study: BinaryClusters, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    plot_traces(ax, outcome["random_log_likelihood"].values, "random starts", alpha=0.25)
    for i, curve in enumerate(outcome["log_likelihood"].values):
        label = f"equal, weights {', '.join(f'{w:.2g}' for w in study.equal[i])}"
        ax.plot(curve, marker=MARKERS[i % 8], color=f"C{i + 1}", label=label)
    ax.set_xlim(0, SHOWN)
    legend_below(ax, 2)
    return figure
