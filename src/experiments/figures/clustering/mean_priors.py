"""The means under each prior, on the points."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.clusters import SYMBOLS
from experiments.drawing.labels import plane_names
from experiments.studies.clustering.mean_priors import MeanPriors


def draw(study: MeanPriors, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    ax.plot(*outcome["points"].values.T, "o", color="0.75", markersize=3)
    for i, (s2, mu) in enumerate(zip(study.variances, outcome["means"].values, strict=True)):
        mark = {"color": f"C{i % 8}", "label": f"$s^2$ = {s2:g}", "markersize": 8}
        ax.plot(*mu.T, SYMBOLS[i % 8], linestyle="none", markeredgecolor="black", **mark)
    ax.plot(*outcome["means_without_prior"].values.T, "k+", markersize=16, label="no prior")
    x, y = plane_names(study.data, standardised=study.standardise)
    ax.set(xlabel=x, ylabel=y)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), title="Means with prior")
    yield "means", figure
