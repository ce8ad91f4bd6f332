"""Gap of each transition from detailed balance and from invariance."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, point


def gaps() -> Iterator[Panel]:
    """The largest violation of detailed balance and of invariance over all draws."""
    yield Panel(
        point("kernel", x="max(balance_gap, over='draw') + 1e-18", label="detailed balance"),
        point(
            "kernel",
            x="max(invariance_gap, over='draw') + 1e-18",
            marker="s",
            ms=4,
            label="invariance",
        ),
        x="largest violation over all draws",
        y="",
        xscale="log",
        xlimits=(1e-19, 1e4),
    )
