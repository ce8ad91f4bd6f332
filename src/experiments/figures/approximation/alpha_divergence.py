"""Divergences of a few pairs along alpha, and the blocks that the best q covers."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.approximation.alpha_divergence import AlphaDivergence


def draw(study: AlphaDivergence, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 0.9)
    left, right = axes[0]
    alpha = outcome["divergence"].coord("alpha")
    order = np.argsort(alpha)
    for k in range(min(5, study.pairs)):
        left.plot(alpha[order], outcome["divergence"].values[order, k], color=f"C{k}")
        ends = outcome["kullback_leibler"].values[:, k]
        left.plot([1, -1], ends, "o", mfc="none", color=f"C{k}")
    left.set(xlabel="α", ylabel="divergence of pairs; circles KL", yscale="log")
    p = outcome["shown_p"].values
    state = np.arange(len(p))
    right.bar(state, p, color="0.75", label="p")
    rows = [(a, "C2", "shown_forced", "forcing") for a in study.forcing]
    rows += [(a, "C0", "shown_avoiding", "avoiding") for a in study.avoiding]
    for k, (a, colour, name, along) in enumerate(rows):
        covered = state[outcome[name].sel(**{along: a}).values > 0]
        height = p.max() * (1.1 + 0.12 * k)
        span = [covered[0] - 0.4, covered[-1] + 0.4]
        right.plot(span, [height] * 2, color=colour, lw=3, solid_capstyle="butt")
        right.text(len(p) - 0.2, height, f"α = {a:g}", va="center", fontsize="small")
    right.set(xlabel="state", ylabel="p, and the runs of the best q", xlim=(-0.8, len(p) + 2.2))
    yield "divergences", figure
