"""What the figures of hidden clusters share: objects by cluster, in two dimensions."""

from matplotlib.axes import Axes

from experiments.drawing.clusters import SYMBOLS
from models.types import AnyArray, Ints


def objects(
    ax: Axes, points: AnyArray, labels: Ints, title: str, symbol: str = r"\langle x_%d \rangle"
) -> None:
    """The first two coordinates, with a colour and a symbol for each cluster."""
    for k in range(labels.max() + 1):
        first, second = points[labels == k, :2].T
        ax.plot(first, second, SYMBOLS[k % 8], color=f"C{k}", markersize=4)
    ax.set(xlabel=f"${symbol % 1}$", ylabel=f"${symbol % 2}$", title=title)
