"""Accuracy against smoothing, and images of the class probabilities and of the confusion matrix."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.dark_mode import TEXT_ON_DARK, TEXT_ON_LIGHT
from bythebook.experiments.plotting.marks import Panel, image, line


def smoothing() -> Iterator[Panel]:
    """Accuracy with the MAP estimate, and averaged over the posterior, against alpha."""
    excess = "coordinates(accuracy, over='alpha') - 1"
    yield Panel(
        line("accuracy['map']", x=excess, marker="o", label="MAP estimate"),
        line("accuracy['expected']", x=excess, marker="s", label="averaged likelihood"),
        x="smoothing, α − 1",
        y="share of test texts that are classified correctly",
        xscale="log",
    )


def probabilities() -> Iterator[Panel]:
    """The class probabilities of each test text, by true class."""
    yield Panel(
        image("probability", cmap="gray", label="probability"),
        x="predicted class",
        y="test texts, by true class",
        height=1.4,
        finish=_class_ticks,
    )


def confusion() -> Iterator[Panel]:
    """The confusion matrix with its counts."""
    yield Panel(
        image("confusion", cmap="cividis", norm=PowerNorm(0.5)),
        x="true class",
        y="predicted class",
        height=1.6,
        finish=_counts,
    )


def _class_ticks(ax: Axes, outcome: Outcome) -> None:
    true = outcome["true_class"].values
    classes = np.unique(true)
    ax.set_yticks([np.flatnonzero(true == c).mean() for c in classes], [str(c) for c in classes])
    ax.set_xticks(classes[4::5])
    ax.invert_yaxis()


def _counts(ax: Axes, outcome: Outcome) -> None:
    counts = outcome["confusion"].values
    norm, classes = PowerNorm(0.5, 0, counts.max()), np.arange(1, len(counts) + 1)
    for row, column in np.argwhere(counts):
        value = counts[row, column]
        colour = TEXT_ON_LIGHT if norm(value) > 0.5 else TEXT_ON_DARK
        ax.text(column + 1, row + 1, str(value), color=colour, ha="center", va="center", fontsize=7)
    ax.set_xticks(classes)
    ax.set_yticks(classes)
    ax.invert_yaxis()
