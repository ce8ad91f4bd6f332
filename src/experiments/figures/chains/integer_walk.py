"""Drawn walks with the root mean square, and the probability of a return."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.integer_walk import IntegerWalk


def draw(study: IntegerWalk, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    for k, up in enumerate(study.ups):
        paths = outcome["path"].sel(up=up)
        color = f"C{k}"
        left.plot(paths.coord("seen"), paths.values.T, color=color, lw=0.5, alpha=0.5)
        time = outcome["expected_square"].coord("time")
        size = np.sqrt(outcome["expected_square"].sel(up=up).values)
        way = np.sign(up - 0.5)
        for sign in (way,) if way else (-1, 1):
            left.plot(time, sign * size, "k--", lw=1)
        missing = 1 - outcome["returned_by"].sel(up=up).values
        right.loglog(time[1:], missing[1:], color=color, label=f"up with {up:g}")
    left.set(xlabel="time", ylabel="place; dashed: root mean square")
    right.set(xlabel="time", ylabel="chance of no return to 0 yet")
    shared_legend(figure, right, 5)
    yield "walks", figure
