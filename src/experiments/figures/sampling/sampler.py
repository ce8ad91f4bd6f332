"""Chains step by step, their agreement by length, and the effect of the step size."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Mark, Panel, contour, line, point, rule

DEVIATIONS = (2.5, 2.0, 1.5, 1.0, 0.5)  # of contours
FIRST = "first(height, over='target')"  # the target that is drawn
MANY = 20  # steps from which on samples have no marks
ACCEPTANCE = (
    "1 - mean(last(rejected, over='length'), over='chain')"
    " / (last(coordinates(rejected, over='length')) - 1)"
)
STEP = "sqrt(coordinates(modes_visited, over='step_variance'))"


def steps(*counts: int) -> Iterator[Panel]:
    """The first samples of the first chain one by one, for each of some numbers of them."""
    for upto in counts:
        yield Panel(
            _contours(FIRST),
            x="$w_1$",
            y="$w_2$",
            title=f"{upto} sample{'s' if upto > 1 else ''}",
            columns=2 if len(counts) > 1 else 1,
            finish=partial(_walk, upto),
        )


def accepted(upto: int) -> Iterator[Panel]:
    """The accepted proposals among the first ones."""
    yield Panel(
        _contours(FIRST),
        point(
            "at(proposed, coordinate=2)",
            x="at(proposed, coordinate=1)",
            where=f"accepted and coordinates(accepted, over='proposal') <= {upto}",
            color="C0",
            ms=3,
            label="accepted",
        ),
        x="$w_1$",
        y="$w_2$",
        title=f"of the first {upto} proposals",
    )


def _contours(height: str) -> Mark:
    levels = [float(np.exp(-(r**2) / 2)) for r in DEVIATIONS]
    return contour(height, levels=levels, colors="0.7", linewidths=0.8)


def _walk(upto: int, ax: Axes, outcome: Outcome) -> None:
    """The first samples, with accepted and rejected proposals."""
    w, proposed, kept = (outcome[n].values[0, 0] for n in ("path", "proposed", "accepted"))
    mark = "" if upto > MANY else "o"
    ax.plot(*w[:1].T, "o", color="C0", markersize=4)
    for s in range(upto - 1):
        ends = np.stack([w[s], proposed[s]], axis=-1)
        look: Any = (
            {"color": "C0", "marker": mark, "ls": "-"} if kept[s] else {"color": "C1", "ls": "--"}
        )
        label = "accepted" if kept[s] else "rejected"
        seen = ax.get_legend_handles_labels()[1]
        look |= {} if label in seen else {"label": label}
        ax.plot(*ends, linewidth=1.2, markersize=4, markevery=[1], **look)


def convergence(step_variance: float) -> Iterator[Panel]:
    """Means of some chains so far, and their agreement, against their length."""
    R = f"max(at(scale_reduction, step_variance={step_variance}), over='coordinate')"
    yield Panel(
        line(
            f"at(chain_mean, step_variance={step_variance}, coordinate=1)",
            x="length",
            by="chain",
            only=range(0, 100, 20),
            label="chain {}",
        ),
        rule(1, linestyle="--", label="target"),
        x="samples of a chain",
        y="mean of $w_1$ so far",
        xscale="log",
    )
    yield Panel(
        line(R, x="length", marker="o", ms=3),
        rule(1, linestyle="--"),
        x="samples of a chain",
        y="potential scale reduction R",
        xscale="log",
    )


def walks() -> Iterator[Panel]:
    """The first chain of each step variance."""
    yield Panel(
        line(
            "at(path, coordinate=2)",
            x="at(path, coordinate=1)",
            by="step_variance",
            marker="o",
            ms=4,
            label="Σ = {} I",
        ),
        x="$w_1$",
        y="$w_2$",
    )


def densities(*targets: str) -> Iterator[Panel]:
    """Some targets, and the quality of chains on them against the size of the steps."""
    for name in targets:
        yield Panel(
            contour(f"at(height, target='{name}')", levels=[0.02, 0.1, 0.3, 0.6, 0.9]),
            x="$w_1$",
            y="$w_2$",
            title=name,
            columns=2,
        )
    yield Panel(
        line("share(modes_visited == 2, over='chain')", x=STEP, by="target",
             only=("two modes", "wide modes"), marker="o", label="{}"),
        x="standard deviation of a step",
        y="share that finds both modes",
        xscale="log",
    )  # fmt: skip
    yield Panel(
        line(ACCEPTANCE, x=STEP, by="target", marker="o", label="{}"),
        x="standard deviation of a step",
        y="share of proposals accepted",
        xscale="log",
    )
