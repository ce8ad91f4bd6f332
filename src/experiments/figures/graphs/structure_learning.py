"""Most probable structures of one data set, the true class as data grow, predictions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bythebook.experiments.plotting.marks import Panel, diagonal, line, point

PRIOR = "one observation"
SHOWN = 10  # structures


def posterior() -> Iterator[Panel]:
    """The probability of the true equivalence class against the number of data points."""
    yield Panel(
        point("true_class_posterior", x="N", by="prior", ms=2, alpha=0.3, label=None),
        line(
            "mean(true_class_posterior, over='draw')",
            x="N",
            by="prior",
            marker="o",
            label="prior: {}",
        ),
        x="data points",
        y="probability of the true class",
        xscale="log",
        ylimits=(0, 1.02),
    )


def _likely(ax: Any, outcome: Any) -> None:
    """The ten most probable structures as bars, those of the true class in another colour."""
    p = outcome["posterior"].sel(prior=PRIOR)
    values = p.values[-1]
    order = np.argsort(-values, kind="stable")[:SHOWN]
    own = outcome["in_true_class"].values[order]
    names = [str(name).replace(">", "→") for name in p.coord("structure")[order]]
    for some, color, label in ((own, "C0", "true equivalence class"), (~own, "0.7", "others")):
        ax.barh(np.flatnonzero(some), values[order][some], 0.7, color=color, label=label)
    ax.legend(loc="lower right")
    ax.set_yticks(range(SHOWN), names)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def structures() -> Iterator[Panel]:
    """The most probable structures, for the first data set of the largest size."""
    yield Panel(x="P(structure | data)", y="", finish=_likely)


def predictions(*sizes: int) -> Iterator[Panel]:
    """New data under the best structure and under sampled structures, data set by data set."""
    for N in sizes:
        yield Panel(
            point(
                f"held_out['sampled', '{PRIOR}', {N}]",
                x=f"held_out['best', '{PRIOR}', {N}]",
                ms=3.5,
                alpha=0.7,
            ),
            diagonal(),
            x="log probability, best structure",
            y="sampled structures",
            title=f"{N} data points",
        )
