"""Variances by messages against the exact ones, shape by shape."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, point, rule


def variances() -> Iterator[Panel]:
    """The error of the variance of each node by messages, against the exact variance."""
    yield Panel(
        rule(0, color="0.6"),
        point(
            "belief_variance - exact_variance",
            x="exact_variance",
            by="sign",
            label="{}",
            ms=2,
            alpha=0.3,
        ),
        facet="shape",
        title="{}",
        x="variance",
        y="variance by messages, less the exact one",
        columns=3,
    )
