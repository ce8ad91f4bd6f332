"""The ranks, and the convergence of the power method and of the surfers."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, bar, line


def ranks() -> Iterator[Panel]:
    """PageRank with the first p, and errors of the power method."""
    yield Panel(
        bar("first(rank, over='follow')", x="page", color="C0"),
        y="PageRank, p = {follows[0]}",
        columns=2,
    )
    yield Panel(
        line("power_error + 1e-17", x="iteration", by="follow", label="p = {}"),
        y="sum of absolute errors",
        yscale="log",
    )


def convergence() -> Iterator[Panel]:
    """Errors of the power method by iteration."""
    yield Panel(
        line("power_error + 1e-17", x="iteration", by="follow", label="p = {}"),
        y="sum of absolute errors",
        yscale="log",
    )


def surfers() -> Iterator[Panel]:
    """Errors of the shares of each surfer, and their mean."""
    yield Panel(
        line("surfer_error", x="visits", color="C0", linewidth=0.5, label="one surfer"),
        line("mean(surfer_error, over='surfer')", x="visits", color="black", label="mean"),
        y="sum of absolute errors of the shares",
        xscale="log",
        yscale="log",
    )
