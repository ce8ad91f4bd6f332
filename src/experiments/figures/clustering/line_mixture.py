"""Lines and responsibilities by iteration; the log likelihood from these and random lines."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import cluster_colours, panel_grid, plot_traces
from bythebook.experiments.studies.clustering.line_mixture import LineMixture


def draw(study: LineMixture, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    x, t = outcome["inputs"].values, outcome["targets"].values
    lines = outcome["lines"]
    ends = np.array([x.min(), x.max()])
    figure, axes = panel_grid(2, len(lines), 0.75, sharex=True, sharey="row")
    for i, step in enumerate(lines.coord("snapshot")):
        top, bottom = axes[:, i]
        gamma = outcome["responsibilities"].values[i]
        top.scatter(x, t, c="0.6" if step == 0 else cluster_colours(gamma), s=14, linewidths=0)
        base = np.zeros_like(x)
        for k, (intercept, slope) in enumerate(lines.values[i]):
            top.plot(ends, intercept + slope * ends, "-" if k == 0 else "--", color=f"C{k}")
            bottom.vlines(x, base, base + gamma[:, k], color=f"C{k}", linewidth=2)
            base = base + gamma[:, k]
        top.set_title(f"{step} iterations" if step else "start")
        bottom.set_xlabel("x")
    axes[0, 0].set_ylabel("t")
    axes[1, 0].set_ylabel("Responsibilities")
    yield "lines", figure

    figure, ax = subplots()
    plot_traces(ax, outcome["random_climb"].values, "from random lines")
    ax.plot(outcome["log_likelihood"].values, color="C1", label="from the lines that are drawn")
    single = outcome["single_line_log_likelihood"].values[0]
    ax.axhline(single, color="C2", linestyle="--", label="a single line, at its best")
    ax.set(ylim=(2.2 * single, None), xlim=(0, 100))
    ax.legend(loc="lower right")
    yield "climb", figure
