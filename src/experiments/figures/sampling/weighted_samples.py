"""Targets and proposals, and what the weighted draws are worth."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line

WORTH = "mean(effective_size, over='repetition') / coordinates(effective_size, over='n')"


def proposals(*targets: str) -> Iterator[Panel]:
    """The densities of some targets and of the proposals."""
    yield Panel(
        line("density", by="target", only=targets, color="black", linewidth=2, label="target: {}"),
        line("proposal_density", by="proposal", linestyle="--", linewidth=1, label="proposal {}"),
        x="z",
        y="density",
    )


def effective_sizes() -> Iterator[Panel]:
    """The effective size as a share of the number of draws, for each target."""
    yield Panel(
        line(WORTH, x="n", by="proposal", marker="o", label="proposal {}"),
        facet="target",
        x="number of draws L",
        y="effective size / L",
        xscale="log",
        yscale="log",
        share="y",
        columns=3,
    )


def distances() -> Iterator[Panel]:
    """The distance of the resampled values' distribution from the target's."""
    yield Panel(
        line(
            "mean(resampled_distance, over='repetition')",
            x="n",
            by="proposal",
            marker="o",
            label="proposal {}",
        ),
        x="number of draws L",
        y="distance from the target",
        xscale="log",
        yscale="log",
    )
