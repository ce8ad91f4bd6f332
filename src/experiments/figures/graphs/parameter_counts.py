"""Independent parameters against the number of variables, model by model."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def ranks() -> Iterator[Panel]:
    """The number of independent parameters of each model, a panel for each number of states."""
    yield Panel(
        line("rank", x="M", by="model", marker="o", ms=4, label="{}"),
        facet="K",
        x="number of variables M",
        y="independent parameters",
        title="{} states",
        yscale="log",
    )
