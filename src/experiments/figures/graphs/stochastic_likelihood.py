"""The likelihood epoch by epoch, and estimates of all runs against the maximum."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, diagonal, line, point


def course() -> Iterator[Panel]:
    """The mean log likelihood of all runs, a panel for each number of sweeps per step."""
    yield Panel(
        line("course", x="epoch", by="method", label="{}"),
        facet="gibbs_steps",
        title="sweeps per step: {}",
        x="epoch",
        y="log likelihood of a case",
        xscale="log",
        share="y",
    )


def estimates() -> Iterator[Panel]:
    """The estimates of all runs against the maximum likelihood estimate, with the fewest sweeps."""
    yield Panel(
        *(
            point(
                f"mean(first(estimate['{method}'], over='gibbs_steps'), over='run')",
                x="maximum",
                label=f"{method}, mean of the runs",
            )
            for method in ("persistent", "contrastive")
        ),
        diagonal(),
        x="maximum likelihood estimate",
        y="estimate",
    )


def exact_bias() -> Iterator[Panel]:
    """The bias of contrastive divergence, for each data set and parameter."""
    yield Panel(
        point("draw", x="bias", by="gibbs_steps", ms=3, label="sweeps: {}"),
        x="bias of contrastive divergence",
        y="data set",
    )
