"""Convergence of each named chain: the probability of each state, step by step."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def steps(start: int = 1) -> Iterator[Panel]:
    """Probabilities of the states after n steps from one state of each chain."""
    yield Panel(
        line(f"n_step[:, {start}]", x="n", by="to", marker=".", ms=3, label="state {}"),
        facet="chain",
        y=f"probability, from state {start}",
        ylimits=(-0.03, 1.03),
        share="y",
        columns=3,
    )
