r"""Kernels: inner products k(x, y) = phi(x)^T phi(y) in an implicit feature space (FCML 5.19).

linear        x^T y
gaussian      exp(-gamma (x - y)^T (x - y))
polynomial    (1 + x^T y)^gamma
"""

import numpy as np
from scipy.spatial.distance import cdist

from bythebook.models.types import Floats


def linear(X: Floats, Y: Floats) -> Floats:
    """x^T y of points (..., N, D) and (..., M, D), shape (..., N, M)."""
    return np.asarray(X @ np.swapaxes(Y, -1, -2))


def gaussian(X: Floats, Y: Floats, gamma: float) -> Floats:
    """exp(-gamma |x - y|^2) of points (N, D) and (M, D), shape (N, M)."""
    return np.asarray(np.exp(-gamma * cdist(X, Y, "sqeuclidean")))  # FCML 5.19


def polynomial(X: Floats, Y: Floats, gamma: float) -> Floats:
    """(1 + x^T y)^gamma of points (..., N, D) and (..., M, D), shape (..., N, M)."""
    return np.asarray((1 + linear(X, Y)) ** gamma)  # FCML 5.19
