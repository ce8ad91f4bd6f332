"""Evidence against data sets, those of the simple model first: the sketch of Figure 4, computed."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, bar


def evidence() -> Iterator[Panel]:
    """The evidence of each model, the data sets in the order of the first model's evidence."""
    yield Panel(
        x="data sets, ordered by the known coin",
        y="evidence",
        xscale="log",
        yscale="log",
        finish=_ordered,
    )


def best() -> Iterator[Panel]:
    """The number of data sets for which each model has the highest evidence."""
    winner = "probability == max(probability, over='model')"
    yield Panel(
        bar(f"count({winner}, over='sequence')", x="model"),
        y="sequences for which it is the best",
        x="",
    )


def _ordered(ax: Axes, outcome: Outcome) -> None:
    p = outcome["probability"]
    # By the first model's probability, then by the last one's: simple data sets to the left.
    order = np.lexsort((-p.values[-1], -p.values[0]))
    for i, (name, row) in enumerate(zip(p.coord("model"), p.values, strict=True)):
        ax.plot(np.arange(1, len(order) + 1), row[order], color=f"C{i}", lw=1.2, label=name)
    ax.legend()
