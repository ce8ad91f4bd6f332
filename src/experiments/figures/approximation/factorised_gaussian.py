"""A correlated Gaussian and its factorised approximations, contours at one to three deviations."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import legend_of
from experiments.drawing.clusters import grid
from experiments.drawing.ellipses import ellipse
from experiments.studies.approximation.factorised_gaussian import FactorisedGaussian


def draw(study: FactorisedGaussian, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = grid(1, 2, 0.95, sharex=True, sharey=True)
    mean = outcome["true_mean"].at(draw=0).values
    S = outcome["true_covariance"].at(draw=0).values
    for ax, way in zip(axes[0], ("q||p", "p||q"), strict=True):
        V = np.diag(outcome["freeform_variance"].at(way=way, draw=0).values)
        for sd in (1, 2, 3):
            first = sd == 1
            ax.plot(*ellipse(mean, S, sd), color="C2", label="p" if first else None)
            ax.plot(*ellipse(mean, V, sd), "--", color="C3", label="q" if first else None)
        ax.set(title=f"least KL({way})", xlabel="$z_1$")
    axes[0, 0].set_ylabel("$z_2$")
    legend_of(figure, axes[0, 0], 2)
    yield "contours", figure
