"""Means of the first data set, iteration by iteration, and draws of their posterior."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, line, point, rule


def courses() -> Iterator[Panel]:
    """The means of the first data set along the iterations, by the number of samples."""
    yield Panel(
        line("path", x="iteration", by="samples", label="L = {}"),
        rule("em_means[0]", color="black", linestyle="--", label="EM"),
        x="iteration",
        y="means",
    )


def posterior() -> Iterator[Panel]:
    """Draws of both means by data augmentation, for the first data set."""
    yield Panel(
        point("drawn[:, 2]", x="drawn[:, 1]", ms=2, color="0.6", label="data augmentation"),
        point("em_means[0, 2]", x="em_means[0, 1]", marker="x", color="black", label="EM"),
        point("exact_map[0, 2]", x="exact_map[0, 1]", marker="+", color="C1", ms=9, mew=2,
              label="mode of the posterior"),
        x="mean 1",
        y="mean 2",
    )  # fmt: skip
