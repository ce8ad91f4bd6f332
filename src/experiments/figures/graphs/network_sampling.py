"""Acceptance of logic sampling, and errors of uniform and weighted samples."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line


def acceptance() -> Iterator[Panel]:
    """The share of accepted samples against the number of observed nodes."""
    yield Panel(
        line("mean(acceptance, over='draw')", x="observed", by="K", marker="o", label="{} states"),
        x="nodes observed",
        y="accepted by logic sampling",
        yscale="log",
    )


def errors() -> Iterator[Panel]:
    """The error of the posterior probabilities against the number of observed nodes."""
    yield Panel(
        line("mean(rms_error, over='draw')", x="number", by="method", marker="o", label="{}"),
        facet="concentration",
        title="Dirichlet parameter {}",
        x="nodes observed",
        y="error of posterior probabilities",
        ylimits=(0, None),
        share="y",
    )
