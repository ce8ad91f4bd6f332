"""Differences of variational Bayes and maximum likelihood, against the number of points."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def limit() -> Iterator[Panel]:
    """The largest differences from maximum likelihood, and the widths of the factors."""
    yield Panel(
        line("mean(gap, over='repetition')", x="n", by="parameter", marker="o", label="{}"),
        x="points N",
        y="largest difference from maximum likelihood",
        xscale="log",
        yscale="log",
    )
    yield Panel(
        line("mean(width, over='repetition')", x="n", by="factor", marker="o", label="{}"),
        x="points N",
        y="standard deviation of a factor",
        xscale="log",
        yscale="log",
    )
