"""Plots for the studies of latent variables: objects by cluster, in two dimensions."""

from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.plotting.marks import Mark, point


def cluster_points(x: str, y: str, clusters: int = 4) -> list[Mark]:
    """Objects with a colour and a symbol for each cluster; `cluster` is recorded."""
    return [
        point(y, x=x, where=f"cluster == {k}", marker=MARKERS[k % 8], color=f"C{k}", label="")
        for k in range(clusters)
    ]
