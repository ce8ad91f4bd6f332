"""Draws of one variable against their density, pairs in the plane."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.clustering import hide_unused
from bythebook.experiments.studies.sampling.direct_samples import DirectSamples
from bythebook.models.sampling.direct import TRANSFORMS


def draw(study: DirectSamples, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    columns = min(3, len(study.samplers))
    figure, axes = subplots(-(-len(study.samplers) // columns), columns, squeeze=False)
    for ax, name in zip(axes.flat, study.samplers, strict=False):
        shown = outcome["shown"].sel(sampler=name).values
        if TRANSFORMS[name].dimension > 1:
            ax.plot(*shown[(shown != 0).all(-1)].T, ".", ms=3)  # zero: not a number
            ax.set(xlabel="$y_1$", ylabel="$y_2$")
        else:
            low, high = np.quantile(shown[:, 0], [0.02, 0.98])
            near = shown[(shown[:, 0] >= low) & (shown[:, 0] <= high)]
            near = near[np.argsort(near[:, 0])]
            counts, edges = np.histogram(near[:, 0], bins=20)
            heights = counts / len(shown) / np.diff(edges)
            ax.stairs(heights, edges, fill=True, alpha=0.35, label="draws")
            ax.plot(*near.T, color="black", label="density")
            ax.set(xlabel="$y$", ylabel="density")
            ax.legend()
        ax.set_title(name)
    hide_unused(axes.flat[len(study.samplers) :])
    yield "draws", figure
