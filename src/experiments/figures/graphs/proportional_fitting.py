"""Marginals sweep by sweep; the given table next to its fit."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bythebook.experiments.plotting.marks import Panel, diagonal, image, line, point


def _numbers(name: str) -> Callable[[Any, Any], None]:
    """Write the numbers of a table into its cells."""

    def finish(ax: Any, outcome: Any) -> None:
        for (i, j), value in np.ndenumerate(outcome[name].values):
            ax.text(j, i, f"{value:g}", ha="center", va="center")
        ax.set(xticks=[], yticks=[])
        ax.invert_yaxis()

    return finish


def table() -> Iterator[Panel]:
    """The given table and its fit."""
    for name in ("counted", "fitted"):
        yield Panel(
            image(name, cmap="Blues", limits=(0, "1.6 * max(counted)")),
            title=f"{name} table",
            x="columns",
            y="rows",
            finish=_numbers(name),
        )


def sweeps() -> Iterator[Panel]:
    """The median error of the marginals against the sweeps, for each graph."""
    yield Panel(
        line(
            "median(margin_gap, over='draw') + 1e-17",
            x="sweep",
            by="graph",
            label="{}",
        ),
        x="sweep",
        y="largest error of a marginal, median",
        yscale="log",
        xlimits=(0, 40),
    )


def passes() -> Iterator[Panel]:
    """Computed expectations of iterative scaling against those along the gradient."""
    yield Panel(
        point("scaling_passes", x="gradient_passes"),
        diagonal(),
        x="passes along the gradient",
        y="passes of iterative scaling",
        xscale="log",
        yscale="log",
    )
