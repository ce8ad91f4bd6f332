"""Contours of bivariate Gaussians."""

import numpy as np

from bythebook.models.types import Floats


def ellipse(mu: Floats, Sigma: Floats, sd: float, points: int = 181) -> Floats:
    """The contour (2, points) at `sd` standard deviations from the mean."""
    angles = np.linspace(0, 2 * np.pi, points)
    shape = np.linalg.cholesky(Sigma) @ np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(mu[:, None] + sd * shape)
