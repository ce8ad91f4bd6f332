"""Convergence of each named chain: the probability of each state, step by step."""

import math
from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.studies.chains.markov_chain import MarkovChain


def draw(study: MarkovChain, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    names = list(study.given)
    columns = min(3, len(names))
    rows = math.ceil(len(names) / columns)
    figure, axes = subplots(rows, columns, squeeze=False, sharey=True)
    steps = outcome["n_step"]
    for k, ax in enumerate(axes.flat):
        if k >= len(names):
            ax.set_visible(False)
            continue
        size = len(study.given[names[k]])
        start = 3 if size > 3 else 1
        for state in range(1, size + 1):
            course = steps.sel(chain=names[k], state=start, to=state)
            ax.plot(course.coord("n"), course.values, ".-", ms=3, lw=1, label=f"state {state}")
        ax.set_title(f"{names[k]}, from state {start}")
        ax.set(xlabel="steps", ylim=(-0.03, 1.03))
    for ax in axes[:, 0]:
        ax.set_ylabel("probability")
    merged_legend(figure, axes.flat, 4)
    yield "steps", figure
