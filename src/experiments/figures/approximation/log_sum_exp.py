"""Slack of the bounds for drawn scores, and draws whose objective is not a bound."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.log_sum_exp import LogSumExp


def draw(study: LogSumExp, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 0.9)
    left, right = axes[0]
    for k, name in enumerate(outcome["slack"].coord("bound")):
        values = np.sort(outcome["slack"].sel(bound=name).values)
        share = np.arange(1, len(values) + 1) / len(values)
        left.plot(values, share, "-:-"[k], color=f"C{k}", label=name)
    left.set(xlabel="distance from the log of the sum", ylabel="share of draws", xlim=(0, 12))
    left.legend(loc="lower right")
    for k, name in enumerate(outcome["objective_slack"].coord("constant")):
        values = outcome["objective_slack"].sel(constant=name).values
        right.hist(values, 30, color=f"C{k}", alpha=0.6, label=name)
    right.axvline(0, color="black", lw=1)
    right.set(xlabel="convex objective less expected loss", ylabel="problems")
    right.legend()
    yield "bounds", figure
