"""What the figures of hidden clusters share: objects by cluster, in two dimensions."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.drawing.clusters import SYMBOLS, grid, whole_steps
from models.types import AnyArray, Ints


def objects(
    ax: Axes, points: AnyArray, labels: Ints, title: str, symbol: str = r"\langle x_%d \rangle"
) -> None:
    """The first two coordinates, with a colour and a symbol for each cluster."""
    for k in range(labels.max() + 1):
        first, second = points[labels == k, :2].T
        ax.plot(first, second, SYMBOLS[k % 8], color=f"C{k}", markersize=4)
    ax.set(xlabel=f"${symbol % 1}$", ylabel=f"${symbol % 2}$", title=title)


def curve_between(points: AnyArray, labels: Ints, **look: str) -> tuple[Figure, Axes, Axes, Axes]:
    """The objects before; room for a curve over whole steps; room for the objects after."""
    figure, axes = grid(1, 3, 0.95)
    before, curve, after = axes[0]
    objects(before, points, labels, "First two variables", "y_%d")
    curve.set(**look)
    whole_steps(curve)
    return figure, before, curve, after
