"""Shares of ancestral samples and the joint table."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def distance() -> Iterator[Panel]:
    """The distance of the samples' shares from the joint table, against their number."""
    yield Panel(
        line(
            "mean(joint_distance, over='draw')",
            x="samples",
            by="network",
            marker="o",
            label="{}",
        ),
        x="samples",
        y="distance from the joint table",
        xscale="log",
        yscale="log",
    )
