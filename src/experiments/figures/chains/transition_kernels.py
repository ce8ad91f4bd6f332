"""Gap of each transition from detailed balance and from invariance."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.transition_kernels import TransitionKernels

GAPS = {"balance_gap": "detailed balance", "invariance_gap": "invariance"}


def draw(study: TransitionKernels, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = subplots()
    rows = np.arange(len(study.kernels))
    for k, (name, words) in enumerate(GAPS.items()):
        worst = np.maximum(outcome[name].values.max(1), 1e-18)
        ax.plot(worst, rows + 0.16 * (2 * k - 1), "os"[k], label=words)
    ax.set(xscale="log", xlabel="largest gap over all draws", xlim=(1e-19, 2))
    ax.set_yticks(rows, study.kernels)
    ax.invert_yaxis()
    ax.grid(axis="y", alpha=0.3)
    shared_legend(figure, ax, 2)
    yield "gaps", figure
