"""Contours of Gaussians in the plane."""

import numpy as np

from models.types import Floats


def ellipse(mu: Floats, Sigma: Floats, sd: float, points: int = 181) -> Floats:
    """The contour so many standard deviations from the mean, (2, points)."""
    turn = np.linspace(0, 2 * np.pi, points)
    shape = np.linalg.cholesky(Sigma) @ np.stack([np.cos(turn), np.sin(turn)])
    return np.asarray(mu[:, None] + sd * shape)
