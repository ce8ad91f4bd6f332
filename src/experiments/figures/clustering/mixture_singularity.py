"""The log likelihood as a component shrinks, and the share of starts that collapse."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line

WIDTH = "width of the component, 10 to the minus"


def collapse() -> Iterator[Panel]:
    """The likelihood of two components grows without bound; a prior and one Gaussian prevent it."""
    yield Panel(
        line("log_likelihood", marker="o"),
        x=WIDTH,
        y="log likelihood (nats)",
        title="two components, one of them shrinking",
    )
    yield Panel(
        line("-log_posterior", marker="s", color="C2", label="two components, with a prior"),
        line("-single_log_likelihood", marker="o", color="C1", label="a single Gaussian"),
        x=WIDTH,
        y="minus log posterior or likelihood",
        yscale="log",
        title="what bounds the collapse",
    )


def collapsed() -> Iterator[Panel]:
    """The number of starts that end in a collapse."""
    yield Panel(
        line("collapsed", x="k", by="method", marker="o", label="{}"),
        x="number of components K",
        y="starts of {restarts} that collapse",
        ylimits=(0, None),
    )
