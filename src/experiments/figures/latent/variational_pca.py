"""The data, the bound by iteration, and posterior means."""

from collections.abc import Iterator

from bythebook.experiments.plotting.latent import cluster_points
from bythebook.experiments.plotting.marks import Panel, line


def ppca() -> Iterator[Panel]:
    """The first data set, its bound, and its latent means, as in FCML Figure 7.6."""
    yield Panel(
        *cluster_points("points[:, 0]", "points[:, 1]"),
        x="y₁",
        y="y₂",
        title="first two variables",
        columns=3,
    )
    yield Panel(
        line("bound[0]", x="iteration"),
        x="iteration",
        y="bound (nats)",
        title="lower bound",
        xlimits=(0, "1.5 * iterations_made[0]"),
    )
    yield Panel(
        *cluster_points("latent_means[:, 0]", "latent_means[:, 1]"),
        x="⟨x₁⟩",
        y="⟨x₂⟩",
        title="posterior means",
    )
