"""Densities in the plane and their contours, with the means of x2 given x1."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.clustering import panel_grid
from bythebook.experiments.studies.probability.gaussian_plane import GaussianPlane


def draw(study: GaussianPlane, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    plane = outcome["density"].coord("x1"), outcome["density"].coord("x2")
    figure, axes = panel_grid(len(study.covariances), 2, 0.72, sharex=True, sharey=True)
    for k, (row, density) in enumerate(zip(axes, outcome["density"].values, strict=True)):
        image = row[0].pcolormesh(*plane, density.T, rasterized=True)
        figure.colorbar(image, ax=row[0], label="p(x)")
        levels = density.max() * np.array([0.05, 0.2, 0.4, 0.6, 0.8, 0.95])
        row[1].contour(*plane, density.T, levels=levels, colors="C0")
        for i, value in enumerate(study.given):
            row[1].axvline(value, color="C1", linestyle=":", linewidth=1.2)
            row[1].plot(value, outcome["conditional_mean"].values[k, i], "D", color="C1")
        row[0].set_ylabel("$x_2$")
    for ax in axes[-1]:
        ax.set_xlabel("$x_1$")
    if study.given:
        axes[-1, 1].plot([], [], "D:", color="C1", label="mean of $x_2$ given $x_1$")
        figure.legend(loc="outside lower right")
    yield "densities", figure
