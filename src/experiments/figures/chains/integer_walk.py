"""Drawn walks with the root of the mean square, and the chance of having returned."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.studies.chains.integer_walk import IntegerWalk


def draw(study: IntegerWalk, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = panels(1, 2)
    for k, up in enumerate(study.ups):
        paths = outcome["path"].at(up=up)
        color = f"C{k}"
        left.plot(paths.along("seen"), paths.values.T, color=color, lw=0.5, alpha=0.5)
        time = outcome["expected_square"].along("time")
        size = np.sqrt(outcome["expected_square"].at(up=up).values)
        way = np.sign(up - 0.5)
        for sign in (way,) if way else (-1, 1):
            left.plot(time, sign * size, "k--", lw=1)
        missing = 1 - outcome["returned_by"].at(up=up).values
        right.loglog(time[1:], missing[1:], color=color, label=f"up with {up:g}")
    left.set(xlabel="time", ylabel="place; dashed: root mean square")
    right.set(xlabel="time", ylabel="chance of no return to 0 yet")
    legend_of(figure, right, 5)
    yield "walks", figure
