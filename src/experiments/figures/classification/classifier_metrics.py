"""Bars: each measure of each constant answer; and the ROC curves of machines."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.classification.classifier_metrics import (
    MEASURES,
    ClassifierMetrics,
)


def draw(study: ClassifierMetrics, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.test is None:
        yield "measures", _measures(outcome)
    else:
        yield "roc", _roc(outcome)


def _measures(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    answers = outcome["loss"].coord("answer")
    for k, measure in enumerate(MEASURES):
        places = np.arange(len(answers)) + 0.2 * (k - 1.5)
        bars = ax.bar(places, outcome[measure].values, 0.18, label=measure)
        ax.bar_label(bars, fmt="%g", fontsize=8)
    ax.set_xticks(np.arange(len(answers)), answers)
    ax.set(xlabel="Classifier", ylabel="Value", ylim=(0, 1.1))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _roc(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    area = outcome["machine_auc"]
    for k, gamma in enumerate(area.coord("gamma")):
        name = rf"$\gamma$ = {gamma:g}, area {area.sel(gamma=gamma).item:.4f}"
        style = ("-", "--", "-.", ":")[k % 4]
        ax.plot(*outcome["roc"].sel(gamma=gamma).values, style, label=name)
    ax.plot([0, 1], [0, 1], ":", color="0.6", label="guessing, area 0.5")
    ax.set(xlabel="False positive rate, 1 − specificity", ylabel="Sensitivity")
    ax.legend(loc="lower right")
    return figure
