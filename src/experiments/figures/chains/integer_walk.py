"""Drawn walks with the root mean square, and the probability of no return."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def walks() -> Iterator[Panel]:
    """Drawn walks by the probability of a move upwards, and the probability of no return yet."""
    yield Panel(
        line("path", x="seen", by="up", linewidth=0.5, label="up with {}"),
        line("sqrt(expected_square[0.5])", x="time", color="black", linestyle="--"),
        line("-sqrt(expected_square[0.5])", x="time", color="black", linestyle="--"),
        y="state; dashed: root mean square for 0.5",
        columns=2,
    )
    yield Panel(
        line("1 - returned_by[:, 2:]", x="time", by="up", label="up with {}"),
        y="probability of no return to 0 yet",
        xscale="log",
        yscale="log",
        ylimits=("0.3 * (1 - max(returned_by[0.5]))", 1.2),
    )
