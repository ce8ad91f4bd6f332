"""Generated stand-ins for files that a book's authors published but the package does not carry.

Each has the shape and the character of the original as the book describes it, is drawn from a fixed
stream, and is named as a stand-in wherever it is used.
"""

import numpy as np

from models.types import Floats


def three_clusters() -> Floats:
    """FCML 6.2: a hundred points in the plane in three elongated clusters, shape (100, 2)."""
    rng = np.random.default_rng(62)
    centres = np.array([[-4.0, 0.0], [3.0, 3.0], [2.0, -4.0]])
    spreads = np.array([[0.8, 2.0], [2.0, 0.9], [1.0, 1.0]])
    which = np.repeat(np.arange(3), [34, 33, 33])
    return centres[which] + spreads[which] * rng.standard_normal((100, 2))
