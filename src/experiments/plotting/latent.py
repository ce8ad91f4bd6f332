"""Plots for the studies of latent variables: objects by cluster, in two dimensions."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bythebook.experiments.plotting.clustering import MARKERS, integer_ticks, panel_grid
from bythebook.experiments.plotting.marks import Mark, point
from bythebook.models.types import AnyArray, Ints


def cluster_points(x: str, y: str, clusters: int = 4) -> list[Mark]:
    """Objects with a colour and a symbol for each cluster; `cluster` is recorded."""
    return [
        point(y, x=x, where=f"cluster == {k}", marker=MARKERS[k % 8], color=f"C{k}", label="")
        for k in range(clusters)
    ]


def plot_objects(
    ax: Axes, points: AnyArray, labels: Ints, title: str, symbol: str = r"\langle x_%d \rangle"
) -> None:
    """The first two coordinates of objects, with a colour and a symbol for each cluster."""
    for k in range(labels.max() + 1):
        first, second = points[labels == k, :2].T
        ax.plot(first, second, MARKERS[k % 8], color=f"C{k}", markersize=4)
    ax.set(xlabel=f"${symbol % 1}$", ylabel=f"${symbol % 2}$", title=title)


def before_curve_after(
    points: AnyArray, labels: Ints, **options: str
) -> tuple[Figure, Axes, Axes, Axes]:
    """Three panels: objects before, and two empty ones for a curve over steps and objects after."""
    figure, axes = panel_grid(1, 3, 0.95)
    before, curve, after = axes[0]
    plot_objects(before, points, labels, "First two variables", "y_%d")
    curve.set(**options)
    integer_ticks(curve)
    return figure, before, curve, after
