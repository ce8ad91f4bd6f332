"""Coupling of tables for each type of data, and the log likelihood by iteration of EM."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, image, line


def coupling() -> Iterator[Panel]:
    """The share of networks in which two tables are coupled, a panel for each objective."""
    yield Panel(
        image("share(coupling > 1e-9, over='draw')", x="other", limits=(0, 1), cmap="Blues"),
        facet="kind",
        title="{}",
        x="table of",
        y="table of",
    )


def climb() -> Iterator[Panel]:
    """The log likelihood in each iteration of EM, in the mean over networks."""
    yield Panel(
        line("mean(log_likelihood, over='draw')", x="iteration", by="missing", label="{} missing"),
        line(
            "mean(hidden_log_likelihood, over='draw')",
            x="iteration",
            color="black",
            linestyle="--",
            label="variables hidden",
        ),
        x="iteration of EM",
        y="log likelihood",
    )
