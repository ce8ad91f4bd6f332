"""Configurations that are no maximum, the number of maxima, and the trellis of a chain."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, bar, hist


def gaps() -> Iterator[Panel]:
    """How often each choice gives a configuration that is no maximum."""
    yield Panel(
        bar("share(gap > 1e-9, over='draw')", x="choice"),
        x="",
        y="share of the draws without a maximum",
    )


def modes() -> Iterator[Panel]:
    """The number of configurations with the largest probability."""
    yield Panel(hist("modes"), x="configurations with the largest probability", y="draws")


def trellis() -> Iterator[Panel]:
    """The predecessor of each state, and paths that are maxima, as in PRML Figure 8.53."""
    yield Panel(finish=_trellis)


def _trellis(ax: Axes, outcome: Outcome) -> None:
    """States of each node in a column, predecessors as lines; traces from all best last states."""
    before, paths = outcome["predecessor"].values, outcome["best_path"].values
    for n, states in enumerate(before):
        for state, of in enumerate(states):
            ax.plot([n, n + 1], [of, state], color="0.2", lw=1, ls="-")
    drawn = [p for p in paths if (before[np.arange(len(before)), p[1:]] == p[:-1]).all()]
    for path, colour in zip(
        {int(p[-1]): p for p in drawn}.values(), ("C0", "C1", "C2"), strict=False
    ):
        ax.plot(path, color=colour, lw=6, ls="-", alpha=0.4, solid_capstyle="round", zorder=0)
    column, row = np.indices((len(before) + 1, before.shape[1]))
    ax.plot(column.ravel(), row.ravel(), "s", ms=10, mfc="white", mec="0.2")
    ax.set_xticks(range(len(before) + 1), outcome["best_path"].axes[1].values)
    ax.set_yticks(range(before.shape[1]), [f"k = {k + 1}" for k in range(before.shape[1])])
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.set_title(f"predecessors; traced, of {len(paths)} paths that are maxima", fontsize="small")
