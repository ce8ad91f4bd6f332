"""Bars of probabilities, or curves of densities."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, bar, line


def bars() -> Iterator[Panel]:
    """The probability of each value."""
    yield Panel(bar("probability", by="curve", label="{}"), x="y", y="P(y)")


def curves() -> Iterator[Panel]:
    """The density for each choice of the parameters."""
    yield Panel(line("density", by="curve", label="{}"), x="y", y="p(y)", ylimits=(0, None))
