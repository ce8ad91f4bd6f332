"""Errors of committees and of their members against the size, and the first committee."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule


def errors() -> Iterator[Panel]:
    """Errors about the true curve by number of members, for each order."""
    yield Panel(
        line(
            "median(average_error, over='repetition')",
            x="members",
            marker="o",
            label="members on average",
        ),
        line(
            "median(committee_error, over='repetition')",
            x="members",
            marker="s",
            label="bootstrap committee",
        ),
        line(
            "median(independent_error, over='group')",
            x="members",
            marker="^",
            label="members with own data sets",
        ),
        rule(
            "median(single_error, over='repetition')",
            color="black",
            linestyle=":",
            label="one fit to all data",
        ),
        facet="order",
        title="order {}",
        x="members",
        y="squared error about the true curve",
        xscale="log",
        yscale="log",
        share="y",
    )


def fits() -> Iterator[Panel]:
    """The first committee and some of its members, for each order."""
    yield Panel(
        line("member_curve", x="x", color="C0", linewidth=0.6, alpha=0.5, label="members"),
        point("targets", x="inputs", color="0.4", ms=3, label="data"),
        line("truth", x="x", color="C2", label="true curve"),
        line("committee_curve", x="x", color="C1", linestyle="--", label="committee"),
        facet="order",
        title="order {}",
        x="x",
        y="t",
        ylimits=(-2, 2),
        share="y",
    )
