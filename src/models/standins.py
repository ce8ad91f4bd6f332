"""Generated stand-ins for files that a book's authors published but the package does not carry.

Each has the shape and the character of the original as the book describes it, is drawn from a fixed
stream, and is named as a stand-in wherever it is used.
"""

import numpy as np

from models.types import Floats


def three_clusters() -> Floats:
    """FCML 6.2: a hundred points in the plane in three groups, a few of them in between, (100, 2).

    Drawn from the mixture of three Gaussians that fits the authors' file best, rounded.
    """
    rng = np.random.default_rng(62)
    centres = np.array([[2.0, -3.9], [2.7, 2.9], [-0.1, -0.2]])
    variances = np.array([[0.8, 0.9], [0.6, 1.6], [0.5, 0.9]])
    which = np.repeat(np.arange(3), [48, 29, 23])
    return np.asarray(centres[which] + np.sqrt(variances[which]) * rng.standard_normal((100, 2)))


def coin_tosses() -> Floats:
    """FCML 3.3.5: a thousand tosses of the stall owner's coin, head = 1, (1000, 1).

    The book only shows posteriors after 100 and 1000 of them. Drawn with the share of heads in the
    authors' file, 0.725.
    """
    rng = np.random.default_rng(335)
    return (rng.random((1000, 1)) < 0.725).astype(np.float64)
