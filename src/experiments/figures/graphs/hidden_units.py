"""Divergence from a parity by the number of hidden units."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def divergence() -> Iterator[Panel]:
    """The divergence of the parity from the best machine, against its hidden units."""
    yield Panel(
        line("divergence", x="hidden_units", marker="o"),
        x="hidden units",
        y="divergence from a parity, nats",
        yscale="log",
    )
