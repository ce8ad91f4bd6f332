"""Shares of ancestral samples and the joint table."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point


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


def p_values() -> Iterator[Panel]:
    """The p-values of the samples of each network, which are even if the samples are correct."""
    yield Panel(
        point("last(joint_p_value, over='samples')", x="draw", by="network", label="{}"),
        x="random tables",
        y="p-value of the samples",
        ylimits=(0, 1),
    )
