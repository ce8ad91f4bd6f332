"""Lines and responsibilities by iteration, and the log likelihood from these and random lines."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import cluster_colours
from bythebook.experiments.plotting.marks import Panel, line, rule


def lines(*iterations: int) -> Iterator[Panel]:
    """Lines above and responsibilities below in some iterations, as in PRML Figure 14.8."""
    shown = (0, *(iterations or (30, 50)))
    for step in shown:
        title = f"after {step} iterations" if step else "start"
        yield Panel(
            x="x", y="t", title=title, finish=partial(_lines, step=step), columns=len(shown)
        )
    for step in shown:
        yield Panel(x="x", y="responsibilities", title="", finish=partial(_shares, step=step))


def _lines(ax: Axes, outcome: Outcome, step: int) -> None:
    x, t = outcome["inputs"].values, outcome["targets"].values
    gamma = outcome["responsibilities"].sel(snapshot=step).values
    colours = cluster_colours(gamma) if step else "0.6"
    ax.scatter(x, t, c=colours, s=14, linewidths=0)
    ends = np.array([x.min(), x.max()])
    for k, (intercept, slope) in enumerate(outcome["lines"].sel(snapshot=step).values):
        ax.plot(ends, intercept + slope * ends, "-" if k == 0 else "--", color=f"C{k}")


def _shares(ax: Axes, outcome: Outcome, step: int) -> None:
    x, base = outcome["inputs"].values, np.zeros(len(outcome["inputs"]))
    for k, gamma in enumerate(outcome["responsibilities"].sel(snapshot=step).values.T):
        ax.vlines(x, base, base + gamma, color=f"C{k}", linewidth=2)
        base = base + gamma


def climb() -> Iterator[Panel]:
    """The log likelihood of the first data set after each iteration of EM."""
    single = "single_line_log_likelihood[0]"
    yield Panel(
        line("random_climb", x="early_iteration", color="C0", label="from random lines"),
        line("log_likelihood", color="C1", label="from the lines shown"),
        rule(single, color="C2", linestyle="--", label="a single line, at its best"),
        x="iteration",
        y="log likelihood (nats)",
        xlimits=(0, 100),
        ylimits=(f"2.2 * {single}", None),
    )
