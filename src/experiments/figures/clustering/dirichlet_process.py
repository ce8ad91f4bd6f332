"""Occupied components against the number of points, under the prior and after seeing them."""

from collections.abc import Iterator

from bythebook.experiments.plotting.marks import Panel, band, bar, line


def components() -> Iterator[Panel]:
    """Components under the prior and the posterior, and the posterior of a few points."""
    yield Panel(
        band(
            "quantile(prior_clusters, 0.95, over='draw')",
            low="quantile(prior_clusters, 0.05, over='draw')",
            x="n",
            by="concentration",
            label="",
        ),
        line(
            "mean(prior_clusters, over='draw')",
            x="n",
            by="concentration",
            marker="o",
            label="prior, $\\alpha$ = {}",
        ),
        line(
            "mean(sampled_clusters, over='repetition')",
            x="fitted_n",
            color="C4",
            linestyle="--",
            label="posterior, Gibbs sampling",
        ),
        line(
            "mean(truncated_clusters, over='repetition')",
            x="fitted_n",
            color="C5",
            linestyle=":",
            label="posterior, variational",
        ),
        x="points",
        y="occupied components",
        xscale="log",
        yscale="log",
        ylimits=(0.9, 500),
    )
    yield Panel(
        bar("exact_count_probability", x="components", label="all partitions"),
        line("drawn_count_probability", x="components", color="C1", label="Gibbs sampling"),
        x="components of {enumerated} points",
        y="posterior probability",
    )
