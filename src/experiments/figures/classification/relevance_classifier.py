"""The boundaries of both machines with their vectors, and the number of vectors."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.classification.relevance_classifier import RelevanceClassifier

_TITLES = {"relevance": "relevance vector machine", "support": "support vector machine"}


def draw(study: RelevanceClassifier, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2, sharex=True, sharey=True)
    X, t = outcome["points"].values, outcome["labels"].values
    output = outcome["plane_output"]
    for ax, name in zip(axes, ("relevance", "support"), strict=True):
        kept = outcome["vectors"].sel(machine=name).values
        for label, marker, colour in ((0, "o", "C0"), (1, "^", "C1")):
            ax.plot(*X[t == label].T, marker, ms=4, color=colour)
        ax.plot(*X[kept].T, "o", ms=10, mfc="none", mec="0.3")
        values = output.sel(machine=name).values
        ax.contour(output.coord("x1"), output.coord("x2"), values, [0], colors="C2")
        count = outcome["relevant" if name == "relevance" else "support"].values[0]
        ax.set(title=f"{_TITLES[name]}: {count} of {study.n}", xlabel="$x_1$", aspect="equal")
    axes[0].set_ylabel("$x_2$")
    yield "machines", figure
