"""Variances by messages against the true ones, shape by shape."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.gaussian_propagation import GaussianPropagation


def draw(study: GaussianPropagation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, len(study.shapes), squeeze=False)
    for ax, shape in zip(axes.flat, study.shapes, strict=True):
        truth = outcome["exact_variance"].sel(shape=shape).values.ravel()
        found = outcome["variance"].sel(shape=shape, form="derived").values.ravel()
        ax.plot([1, truth.max()], [1, truth.max()], color="0.6", lw=1)
        ax.plot(truth, found, ".", ms=4)
        ax.set(xlabel="variance", ylabel="by messages", title=shape)
    yield "variances", figure
