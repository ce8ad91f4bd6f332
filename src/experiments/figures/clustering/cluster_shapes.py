"""The clusters that each method finds in the first draw of each shape."""

from collections.abc import Iterator
from itertools import product

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import SYMBOLS, grid
from experiments.studies.clustering.cluster_shapes import ClusterShapes

METHODS = {"kmeans": "K-means", "mixture": "Gaussian mixture"}


def draw(study: ClusterShapes, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    shapes = ["rings"] * (study.data is not None) + ["stretched"] * study.stretched
    columns = list(product(shapes, study.methods))
    figure, axes = grid(1, len(columns), 0.9)
    for ax, (shape, method) in zip(axes[0], columns, strict=True):
        first = {f"{shape}_draw": 0, "method": method}
        X = outcome[f"{shape}_points"].values[0]
        labels = outcome[f"{shape}_labels"].at(**first).values
        size = 2.2 if len(X) > 500 else 4
        for k, centre in enumerate(outcome[f"{shape}_centres"].at(**first).values):
            ax.plot(*X[labels == k].T, SYMBOLS[k], color=f"C{k}", markersize=size, alpha=0.7)
            ax.plot(*centre, SYMBOLS[k], color=f"C{k}", markersize=11, markeredgecolor="black")
        share = outcome[f"{shape}_agreement"].at(**first).item
        ax.set(xlabel="$x_1$", ylabel="$x_2$")
        ax.set_title(f"{METHODS[method]}: {share:.0%} as in the true clusters")
        if shape == "rings":
            ax.set_aspect("equal")
    yield "clusters", figure
