"""Beliefs against marginals, and the largest errors, spread by spread."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.factor_propagation import FactorPropagation


def draw(study: FactorPropagation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    left.plot([0, 1], [0, 1], color="0.6", lw=1)
    for k, spread in enumerate(study.spreads):
        found, exact = (
            outcome[n].sel(graph="closed", spread=spread, state=0).values
            for n in ("belief", "exact_belief")
        )
        rest = outcome["change"].sel(graph="closed", spread=spread).values < 1e-6
        look = {"ls": "", "ms": 4, "color": f"C{k}"}
        left.plot(exact[rest].ravel(), found[rest].ravel(), marker="o", label=f"{spread:g}", **look)
        if not rest.all():
            left.plot(
                exact[~rest].ravel(),
                found[~rest].ravel(),
                marker="x",
                label=f"{spread:g}, not converged",
                **look,
            )
        off = np.sort(np.abs(found - exact).max(-1))
        right.step(off, np.arange(1, len(off) + 1) / len(off), where="post", color=f"C{k}")
    left.set(
        xlabel="probability of a node's first state", ylabel="its belief after messages with loops"
    )
    left.legend(title="spread of logarithms", fontsize="small")
    right.set(xlabel="largest error of a draw", ylabel="share of the draws", ylim=(0, 1.03))
    yield "beliefs", figure
