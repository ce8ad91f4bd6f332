"""The sample as it grows, on the contours of the components; or probabilities and one label."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import SYMBOLS, contour, grid
from experiments.studies.clustering.mixture_sample import MixtureSample


def draw(study: MixtureSample, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield ("sample", _sample(study, outcome)) if study.means else ("labels", _labels(outcome))


def _sample(study: MixtureSample, outcome: Outcome) -> Figure:
    X, z = outcome["objects"].values, outcome["chosen"].values[0] - 1
    figure, axes = grid(1, len(study.show), 1.25, sharex=True, sharey=True)
    for ax, n in zip(axes[0], sorted(study.show), strict=True):
        for k, (mean, variance) in enumerate(zip(study.means, study.variances, strict=True)):
            for scale in (1, 4):
                contour(ax, np.array(mean), scale * np.diag(variance), "0.75", linewidth=1)
            ax.plot(*X[:n][z[:n] == k].T, SYMBOLS[k], color=f"C{k}", markersize=3.5)
        ax.plot(*X[n - 1], "o", color=f"C{z[n - 1]}", markersize=9, markeredgecolor="black")
        ax.set(title=f"{n} object{'s' * (n > 1)}", xlabel="$x_1$")
    axes[0, 0].set_ylabel("$x_2$")
    return figure


def _labels(outcome: Outcome) -> Figure:
    q, places = outcome["probability"].values, outcome["probability"].along("component")
    figure, ax = panels()
    ax.bar(places - 0.2, q, 0.38, color="C0", label="responsibilities")
    ax.bar(places + 0.2, places == places[q.argmax()], 0.38, color="C1", label="hard assignment")
    ax.set(xlabel="Component", ylabel="Probability", xticks=places, ylim=(0, 1.05))
    ax.legend()
    return figure
