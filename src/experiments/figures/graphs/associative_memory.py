"""An image, its visible part, and its completion by each rule; small networks by load."""

from collections.abc import Iterator
from typing import Any

from bythebook.experiments.plotting.marks import Panel, image, line

RULES = ("outer product", "likelihood")
STAGES = ("start", "after 5", "final")


def _bare(ax: Any, _: Any) -> None:
    ax.set_axis_off()
    ax.set_aspect("equal")


def images() -> Iterator[Panel]:
    """The first image and its completion, a row of panels for each rule."""
    for rule in RULES:
        yield Panel(
            image("original", limits=(-1, 1), cmap="cividis"),
            title=f"original, {rule}",
            columns=1 + len(STAGES),
            finish=_bare,
        )
        for stage in STAGES:
            yield Panel(
                image(f"picture['{rule}', '{stage}']", limits=(-1, 1), cmap="cividis"),
                title=stage,
                finish=_bare,
            )


def loads() -> Iterator[Panel]:
    """The share of hidden units that are wrong, against the number of patterns."""
    yield Panel(
        line(
            "100 * mean(small_wrong, over='small_draw')",
            x="load",
            by="rule",
            marker="o",
            label="{}",
        ),
        x="patterns of {units} units",
        y="hidden units wrong, %",
        ylimits=(0, None),
    )
