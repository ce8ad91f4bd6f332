"""Accuracy against smoothing, and images of the class probabilities and of the confusion matrix."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.dark_mode import TEXT_ON_DARK, TEXT_ON_LIGHT
from bythebook.experiments.studies.classification.naive_bayes_text import NaiveBayesText


def draw(study: NaiveBayesText, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    draws = {"smoothing": _smoothing, "probabilities": _probabilities, "confusion": _confusion}
    for name in study.show:
        yield name, draws[name](outcome)


def _smoothing(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    accuracy = outcome["accuracy"]
    excess = accuracy.coord("alpha") - 1
    ax.semilogx(excess, accuracy.values[0], "o-", label="MAP estimate of the word probabilities")
    ax.semilogx(excess, accuracy.values[1], "s--", label="likelihood averaged over them")
    ax.set(xlabel=r"Smoothing, $\alpha - 1$", ylabel="Share of test texts classified rightly")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _probabilities(outcome: Outcome) -> Figure:
    p, true = outcome["probability"].values, outcome["true_class"].values
    C = p.shape[1]
    figure, ax = _tall(1.4)
    edges = (0.5, C + 0.5, len(p), 0)
    image = ax.imshow(p, aspect="auto", extent=edges, cmap="gray", interpolation="nearest")
    middle = [np.flatnonzero(true == c).mean() for c in range(1, C + 1)]
    ax.set_yticks(middle, [str(c) for c in range(1, C + 1)])
    ax.set(xlabel="Predicted class", ylabel="Test texts, by true class", xticks=range(1, C + 1))
    figure.colorbar(image, label="Probability")
    return figure


def _confusion(outcome: Outcome) -> Figure:
    counts = outcome["confusion"].values
    C, ticks = len(counts), range(1, len(counts) + 1)
    figure, ax = _tall(1.6)
    norm = PowerNorm(0.5, 0, counts.max())
    ax.imshow(counts, cmap="cividis", norm=norm, extent=(0.5, C + 0.5, C + 0.5, 0.5))
    for row, column in np.argwhere(counts):
        value = counts[row, column]
        ink = TEXT_ON_LIGHT if norm(value) > 0.5 else TEXT_ON_DARK
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
        ax.text(column + 1, row + 1, str(value), color=ink, **place)
    ax.set(xlabel="True class", ylabel="Predicted class", xticks=ticks, yticks=ticks)
    return figure


def _tall(times: float) -> tuple[Figure, Axes]:
    figure, ax = subplots()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * times)
    ax.grid(False)
    return figure, ax
