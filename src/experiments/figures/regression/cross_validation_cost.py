"""Fits that a loss takes, and its spread over partitions, by the number of folds."""

from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.regression.cross_validation_cost import CrossValidationCost


def draw(study: CrossValidationCost, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = [*map(str, sorted(study.folds)), f"{study.n}\n(leave-one-out)"]
    figure, (left, right) = panels(1, 2)
    left.bar(names, outcome["fits"], color="C0")
    left.set(xlabel="folds", ylabel="fits for one loss")
    look: dict[str, Any] = {"whis": (0, 100), "widths": 0.4, "medianprops": {"color": "C1"}}
    right.boxplot(outcome["kfold_loss"].values.T, tick_labels=names, **look)
    right.set(xlabel="folds", ylabel="squared loss, over partitions")
    yield "cost", figure
