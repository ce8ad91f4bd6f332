"""The clusters that each method finds in the first draw of each shape; kernel K-means' growth."""

from collections.abc import Iterator
from functools import partial

from matplotlib.axes import Axes

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.plotting.marks import Panel, line, point, rule

NAMES = {"kmeans": "K-means", "mixture": "Gaussian mixture"}


def clusters(*panels: str) -> Iterator[Panel]:
    """Clusters of the first draw: "rings kmeans" or "stretched mixture", for example."""
    for panel in panels:
        shape, method = panel.split()
        draw = partial(_clusters, shape=shape, method=method)
        yield Panel(
            x="{x1}", y="{x2}", title=NAMES[method], finish=draw, columns=min(len(panels), 3)
        )


def _clusters(ax: Axes, outcome: Outcome, shape: str, method: str) -> None:
    first = {f"{shape}_draw": 0, "method": method}
    X = outcome[f"{shape}_points"].values[0]
    labels = outcome[f"{shape}_labels"].sel(**first).values
    size = 2.2 if len(X) > 500 else 4
    for k, centre in enumerate(outcome[f"{shape}_centres"].sel(**first).values):
        ax.plot(*X[labels == k].T, MARKERS[k], color=f"C{k}", markersize=size, alpha=0.7)
        ax.plot(*centre, MARKERS[k], color=f"C{k}", markersize=11, markeredgecolor="black")


def iterations() -> Iterator[Panel]:
    """Clusters of kernel K-means in some iterations, as in FCML Figure 6.5."""
    yield Panel(
        *(
            point(
                "rings_points[0, :, 2]",
                x="rings_points[0, :, 1]",
                where=f"kernel_labels == {k}",
                color=f"C{k}",
                ms=1.5,
            )
            for k in (0, 1)
        ),
        facet="snapshot",
        title="after {} iterations",
        x="{x1}",
        y="{x2}",
        share="xy",
        columns=2,
    )


def choices() -> Iterator[Panel]:
    """The share of objects in the right cluster by kernel parameter and by start."""
    yield Panel(
        line("agreement_by_gamma", x="gamma", marker="o"),
        x="kernel parameter $\\gamma$",
        y="share in the right cluster",
        xscale="log",
        share="y",
    )
    yield Panel(
        point("random_agreement", x="random_start", ms=4, alpha=0.5, label="each start"),
        rule("kernel_agreement['middle']", color="C1", label="from the innermost object"),
        rule("kernel_agreement['kmeans']", color="C2", label="from the labels of K-means"),
        x="start: a single object, or random labels",
        y="",
    )
