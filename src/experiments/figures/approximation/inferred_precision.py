"""The bound step by step below the evidence, and the expected precision."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.inferred_precision import InferredPrecision


def draw(study: InferredPrecision, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 0.9)
    left, right = axes[0]
    gap = outcome["log_evidence"].values[:, None] - outcome["bound"].values
    steps = np.arange(1, gap.shape[1] + 1)
    for row, alpha in zip(gap, outcome["expected_precision"].values, strict=True):
        left.loglog(steps, row, color="C0", lw=1, alpha=0.6)
        right.semilogx(steps, alpha, color="C2", lw=1, alpha=0.6)
    left.set(xlabel="step", ylabel="log evidence less bound")
    right.set(xlabel="step", ylabel="E[α]")
    yield "bounds", figure
