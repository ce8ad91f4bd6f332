"""Contours of the probability of class 1, straight and curved."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.classes import labelled_points, legend_of, probability_lines
from experiments.studies.classification.logistic_boundary import FEATURES, LogisticBoundary


def draw(study: LogisticBoundary, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, 2, sharey=True)
    for ax, name in zip(axes, FEATURES, strict=True):
        labelled_points(ax, outcome, ["class 0", "class 1"])
        probability_lines(ax, outcome["probability_map"].at(features=name))
        ax.set_title(f"P(class 1), {name} log odds")
        ax.label_outer()
    legend_of(figure, axes[0], 2)
    yield "probability", figure
