"""The counts, and the components of the fitted mixture."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point


def counts() -> Iterator[Panel]:
    """The share of each count, and its probability under the components and the mixture."""
    yield Panel(
        point(
            "share(counts == coordinates(part, over='x'), over='point')",
            x="x",
            color="0.5",
            label="observed",
        ),
        line("part", x="x", by="component", marker="o", ms=4, label="component {}"),
        line("sum(part, over='component')", x="x", color="k", linestyle="--", label="mixture"),
        x="count",
        y="probability",
    )
