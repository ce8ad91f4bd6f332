"""Draws of one variable with density and distribution function, and pairs in the plane."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point

RANK = "(coordinates(drawn, over='draw') + 0.5) / size(drawn, over='draw')"
NEAR = "abs(distribution - 0.5) < 0.47"  # without the tails


def distributions() -> Iterator[Panel]:
    """The density, the distribution function, and the share of the draws below a value."""
    yield Panel(
        point(RANK, x="drawn", where=NEAR, color="0.6", ms=3, label="share of the draws below y"),
        line("distribution", x="drawn", where=NEAR, color="C0", label="distribution h(y)"),
        line("density", x="drawn", where=NEAR, color="C1", label="density p(y)"),
        facet="variable",
        x="y",
        y="",
        columns=3,
    )


def pairs() -> Iterator[Panel]:
    """The first two components of the draws of several variables."""
    yield Panel(
        point("at(point, component=2)", x="at(point, component=1)", ms=3),
        facet="plane",
        x="$y_1$",
        y="$y_2$",
    )
