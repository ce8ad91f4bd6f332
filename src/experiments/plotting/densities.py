"""Plots of densities in one dimension: Gaussian curves, particle histograms."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bythebook.models.types import Floats


def gaussian_curve(x: Floats, mean: Any, sd: Any) -> Floats:
    """The density of a Gaussian at points of a grid."""
    return np.asarray(np.exp(-0.5 * ((x - mean) / sd) ** 2) / (np.sqrt(2 * np.pi) * sd))


def particle_histogram(ax: Axes, z: Floats, w: Floats, edges: Floats) -> None:
    """Histogram of weighted particles in bins of equal width, scaled to a density."""
    ax.hist(z, edges.tolist(), weights=w / (edges[1] - edges[0]), color="0.8", label="particles")
