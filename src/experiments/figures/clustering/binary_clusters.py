"""Binary data as drawn, and sorted by cluster."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.marks import Panel, image


def clusters() -> Iterator[Panel]:
    """The objects as drawn, and by cluster, as in FCML Figures 6.13 and 6.14."""
    yield Panel(
        image("points", x="variable", cmap="Greys", vmax=1.25),
        x="variable",
        y="object (filled is 1)",
        title="objects as drawn",
    )
    yield Panel(x="variable", title="objects by cluster", finish=_sorted)


def _sorted(ax: Axes, outcome: Outcome) -> None:
    X, labels = outcome["points"].values, outcome["labels"].values
    look = {"aspect": "auto", "cmap": "Greys", "interpolation": "nearest", "vmax": 1.25}
    ax.imshow(X[np.argsort(labels, kind="stable")], origin="lower", **look)  # type: ignore[arg-type]
    for edge in np.cumsum(np.bincount(labels))[:-1]:
        ax.axhline(edge - 0.5, color="C1")
    ax.grid(visible=False)
