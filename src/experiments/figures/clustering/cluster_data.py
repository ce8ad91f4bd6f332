"""The points in the plane, and as observed beside them if they were rescaled."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import plane_names
from experiments.studies.clustering.cluster_data import ClusterData


def draw(study: ClusterData, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    shown = {"": ("points", False, 4)}
    if study.standardise:
        shown = {"As observed": ("observed", False, 3), "After rescaling": ("points", True, 3)}
    figure, axes = panels(1, len(shown), squeeze=False)
    for ax, (title, (name, rescaled, size)) in zip(axes[0], shown.items(), strict=True):
        ax.plot(*outcome[name].values.T, "o", markersize=size, alpha=0.7)
        x, y = plane_names(study.data, standardised=rescaled)
        ax.set(xlabel=x, ylabel=y, title=title)
    yield "data", figure
