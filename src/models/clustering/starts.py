"""Initial values by name: centres for K-means, mixtures for EM, for R restarts.

The kinds of start that the texts describe are in `kmeans` and `gaussian_mixture_starts`.
"""

import numpy as np
from numpy.random import Generator

from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import (
    start_at,
    start_at_points,
    start_from_labels,
    start_from_random_responsibilities,
    start_identical,
    start_of_gaussians,
)
from bythebook.models.clustering.kmeans import (
    kmeans,
    kmeans_plus_plus,
    random_in_box,
    random_points,
)
from bythebook.models.em import take
from bythebook.models.types import Floats

Box = tuple[Floats, Floats]  # its lowest and its highest corner, (D,) each


CENTRES = {
    "points": "random data points",
    "plus_plus": "K-means++",
    "box": "uniform in a box",
    "corner": "all in one corner",
}
MIXTURES = {
    "points": "random data points, covariance of all",
    "unit_points": "random data points, unit covariance",
    "plus_plus": "K-means++ centres, covariance of all",
    "kmeans": "result of K-means",
    "responsibilities": "random responsibilities",
    "gaussians": "random Gaussians",
    "box": "uniform in the data's box, unit covariance",
    "identical": "all components equal",
}


def centres(kind: str, X: Floats, K: int, box: Box, rng: Generator, R: int) -> Floats:
    """Initial centres of K-means, shape (R, K, D)."""
    match kind:
        case "points":
            return random_points(X, K, rng, R)
        case "plus_plus":
            return kmeans_plus_plus(X, K, rng, R)
        case "box":
            return random_in_box(*box, K, rng, R)
        case _:  # the box shrunk to a tenth of its sides, in one of its corners
            inside = random_in_box(*box, K, rng, R)
            corner = np.where(rng.random((R, 1, X.shape[1])) < 0.5, *box)
            return np.asarray(corner + (inside - corner) / 10)


def mixtures(kind: str, X: Floats, K: int, box: Box, rng: Generator, R: int) -> GaussianMixture:
    """Initial mixtures of EM."""
    unit = np.eye(X.shape[1])
    match kind:
        case "points":
            return start_at_points(X, K, rng, R)
        case "unit_points":
            return start_at(random_points(X, K, rng, R), unit)
        case "plus_plus":
            far_apart = kmeans_plus_plus(X, K, rng, R)
            return start_at_points(X, K, rng, R)._replace(mu=far_apart)
        case "kmeans":
            return start_from_labels(X, kmeans(X, random_points(X, K, rng, R)).labels, K)
        case "responsibilities":
            return start_from_random_responsibilities(X, K, rng, R)
        case "gaussians":
            return start_of_gaussians(K, len(unit), rng, R)
        case "box":
            return start_at(random_in_box(*box, K, rng, R), unit)
        case _:
            return take(start_identical(X, K), np.zeros(R, dtype=np.int64))
