"""A correlated Gaussian and its factorised approximations, contours at one to three deviations."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.plotting.ellipses import ellipse
from bythebook.experiments.studies.approximation.factorised_gaussian import FactorisedGaussian


def draw(study: FactorisedGaussian, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panel_grid(1, 2, 0.95, sharex=True, sharey=True)
    mean = outcome["true_mean"].sel(draw=0).values
    S = outcome["true_covariance"].sel(draw=0).values
    for ax, way in zip(axes[0], ("q||p", "p||q"), strict=True):
        V = np.diag(outcome["freeform_variance"].sel(way=way, draw=0).values)
        for sd in (1, 2, 3):
            first = sd == 1
            ax.plot(*ellipse(mean, S, sd), color="C2", label="p" if first else None)
            ax.plot(*ellipse(mean, V, sd), "--", color="C3", label="q" if first else None)
        ax.set(title=f"smallest KL({way})", xlabel="$z_1$")
    axes[0, 0].set_ylabel("$z_2$")
    shared_legend(figure, axes[0, 0], 2)
    yield "contours", figure
