"""Samples with regions coloured by size, and their growth with the coupling."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, image, line, point


def _bare(ax: Any, _: Any) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")


def samples(*couplings: float) -> Iterator[Panel]:
    """The first sample of each coupling; the colour is the logarithm of a region's size."""
    yield Panel(
        image("log(region_size)", cmap="viridis_r"),
        facet="coupling",
        only=couplings,
        title="J = {}",
        columns=4,
        finish=_bare,
    )


def regions() -> Iterator[Panel]:
    """The share of the lattice in its largest region."""
    yield Panel(
        point("largest_region", x="coupling", by="start", alpha=0.8, label="{} start"),
        x="J",
        y="share of the lattice in its largest region",
        ylimits=(0, None),
    )


def course(*couplings: float) -> Iterator[Panel]:
    """The share of equal neighbours during the runs, a panel for each start."""
    yield Panel(
        line("equal_links", x="sweep", by="coupling", only=couplings, linewidth=1, label="J = {}"),
        facet="start",
        title="{} start",
        x="sweep",
        y="share of equal neighbours",
        share="y",
    )
