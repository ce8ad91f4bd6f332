"""Distribution of the mean spin on each lattice, coupling by coupling."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, step


def spins() -> Iterator[Panel]:
    """The distribution function of the mean spin, a panel for each lattice."""
    yield Panel(
        step("spread", x="magnetisation", by="coupling", label="J = {}"),
        facet="graph",
        title="{}",
        x="mean spin m",
        y="probability of m or less",
        share="y",
        columns=5,
    )
