"""Fitted functions with their hidden units; errors against evaluations of the gradient."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point


def fits() -> Iterator[Panel]:
    """The targets, the best fit and its hidden units, a panel for each function."""
    yield Panel(
        line("hidden_output", x="x", color="0.6", ls="--", linewidth=0.8, label="hidden units"),
        point("data", x="x", color="C0", ms=3, label="targets"),
        line("fit", x="x", color="C1", label="fit"),
        facet="target",
        title="{}",
        x="x",
        y="target and fit",
        columns=2,
    )


def methods() -> Iterator[Panel]:
    """The error of each optimiser against its evaluations of the gradient."""
    yield Panel(
        line("median_error", by="method", label="{}"),
        x="evaluations of the gradient",
        y="error, median over the starts",
        xscale="log",
        yscale="log",
        optional=True,
    )
