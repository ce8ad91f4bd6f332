"""Gap of each way of choosing a configuration to the maximum."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.max_sum import MaxSum

WAYS = {
    "traced_gap": "back-tracking",
    "nodewise_gap": "each node's best value",
    "icm_gap": "conditional modes",
    "printed_gap": "(8.101) as printed",
}


def draw(study: MaxSum, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    for name, label in WAYS.items():
        gaps = np.sort(outcome[name].values)
        left.step(gaps, np.arange(1, len(gaps) + 1) / len(gaps), where="post", label=label)
    left.set(xlabel="nats below the maximum", ylabel="share of the draws", ylim=(0, 1.03))
    left.legend(fontsize="small")
    if "predecessor" in outcome:
        _trellis(right, outcome)
    else:
        modes = outcome["modes"].values
        right.hist(modes, np.arange(0.5, modes.max() + 1.5), color="C0")
        right.set(xlabel="configurations that are a maximum", ylabel="draws")
        right.xaxis.get_major_locator().set_params(integer=True)
    yield "gaps", figure


def _trellis(ax: Axes, outcome: Outcome) -> None:
    """States of each node in a column, predecessors as lines; traces from all best last states."""
    before, paths = outcome["predecessor"].values, outcome["best_path"].values
    for n, states in enumerate(before):
        for state, of in enumerate(states):
            ax.plot([n, n + 1], [of, state], color="0.2", lw=1)
    drawn = [p for p in paths if (before[np.arange(len(before)), p[1:]] == p[:-1]).all()]
    for path, colour in zip(
        {int(p[-1]): p for p in drawn}.values(), ("C0", "C1", "C2"), strict=False
    ):
        ax.plot(path, color=colour, lw=6, alpha=0.4, solid_capstyle="round", zorder=0)
    column, row = np.indices((len(before) + 1, before.shape[1]))
    ax.plot(column.ravel(), row.ravel(), "s", ms=10, mfc="white", mec="0.2")
    ax.set_xticks(range(len(before) + 1), outcome["best_path"].axes[1].values)
    ax.set_yticks(range(before.shape[1]), [f"k = {k + 1}" for k in range(before.shape[1])])
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.set_title(f"predecessors; traced, of {len(paths)} paths that are maxima", fontsize="small")
