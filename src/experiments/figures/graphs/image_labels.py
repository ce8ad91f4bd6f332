"""Observed, true and estimated labels; wrong pixels by strength and round."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, image, line


def _bare(ax: Any, _: Any) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")


def images() -> Iterator[Panel]:
    """The first image, its true labels, and its labels by the last method."""
    yield Panel(image("seen", cmap="Greys"), title="image", columns=4, finish=_bare)
    yield Panel(image("true_label", cmap="cividis"), title="true labels", finish=_bare)
    yield Panel(
        image("picture", limits=("min(true_label)", "max(true_label)"), cmap="cividis"),
        facet="edges",
        title="{} links",
        finish=_bare,
    )


def wrong(*edges: str) -> Iterator[Panel]:
    """The share of wrong pixels against the strength of the links, a line for each method."""
    yield Panel(
        line(
            "100 * mean(wrong, over='draw')",
            x="strength",
            by="method",
            marker="o",
            ms=4,
            label="{}",
        ),
        facet="edges",
        only=edges,
        title="{} links",
        x="strength of links",
        y="pixels wrong, %",
        ylimits=(0, "150 * max(mean(wrong, over='draw'))"),  # room for the legend
        share="y",
    )


def rounds() -> Iterator[Panel]:
    """The share of wrong pixels against the rounds of messages."""
    yield Panel(
        line("100 * mean(round_wrong, over='draw')", x="rounds", by="edges", label="{} links"),
        x="rounds of messages",
        y="pixels wrong, %",
        ylimits=(0, None),
    )
