"""How far each transition is from balance, and from leaving the target be."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of, panels
from experiments.studies.chains.transition_kernels import TransitionKernels

GAPS = {"balance_gap": "detailed balance", "invariance_gap": "invariance"}


def draw(study: TransitionKernels, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    rows = np.arange(len(study.kernels))
    for k, (name, words) in enumerate(GAPS.items()):
        worst = np.maximum(outcome[name].values.max(1), 1e-18)
        ax.plot(worst, rows + 0.16 * (2 * k - 1), "os"[k], label=words)
    ax.set(xscale="log", xlabel="largest gap over all draws", xlim=(1e-19, 2))
    ax.set_yticks(rows, study.kernels)
    ax.invert_yaxis()
    ax.grid(axis="y", alpha=0.3)
    legend_of(figure, ax, 2)
    yield "gaps", figure
