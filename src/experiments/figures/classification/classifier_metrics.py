"""Bars: each measure of each classifier."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.classification.classifier_metrics import ClassifierMetrics


def draw(study: ClassifierMetrics, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    answers = outcome["loss"].along("answer")
    for k, measure in enumerate(("loss", "sensitivity", "specificity", "auc")):
        places = np.arange(len(answers)) + 0.2 * (k - 1.5)
        bars = ax.bar(places, outcome[measure].values, 0.18, label=measure)
        ax.bar_label(bars, fmt="%g", fontsize=8)
    ax.set_xticks(np.arange(len(answers)), answers)
    ax.set(xlabel="Classifier", ylabel="Value", ylim=(0, 1.1))
    figure.legend(loc="outside lower center", ncols=4)
    yield "measures", figure
