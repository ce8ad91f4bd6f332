"""Taylor expansions of the exponential about zero (FCML comment 4.3).

exp(w) = 1 + w / 1! + w^2 / 2! + w^3 / 3! + ...
"""

import numpy as np
from scipy.special import factorial

from bythebook.models.types import Floats


def expansions(order: int, w: Floats) -> Floats:
    """The approximations of order 0 to n at points (G,), shape (n + 1, G)."""
    n = np.arange(order + 1)[:, None]
    return np.asarray(np.cumsum(w**n / factorial(n), axis=0))
