"""Functions drawn from the prior, a panel for each precision that falls."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def functions() -> Iterator[Panel]:
    """Ten functions with each precision divided, as MLAPP Figure 16.17."""
    yield Panel(
        line("sample", x="x", by="drawn", linewidth=1, label=""),
        facet="reduced",
        title="reduced: {}",
        x="x",
        y="f(x)",
        ylimits=(-12, 12),
        share="xy",
        columns=3,
    )
