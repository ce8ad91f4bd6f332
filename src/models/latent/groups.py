"""Groups of points on maps (..., N, D): their medians, spread and nearest neighbours."""

from itertools import pairwise, permutations

import numpy as np
from scipy.optimize import linprog

from bythebook.models.classification.knn import fold_errors
from bythebook.models.types import Floats, Ints


def medians(X: Floats, labels: Ints, K: int) -> Floats:
    """The median of each group in each coordinate, shape (..., K, D)."""
    return np.stack([np.median(X[..., labels == k, :], axis=-2) for k in range(K)], axis=-2)


def spreads(X: Floats, labels: Ints, K: int) -> Floats:
    """The median distance of each group from its median, shape (..., K)."""
    away = np.linalg.norm(X - medians(X, labels, labels.max() + 1)[..., labels, :], axis=-1)
    return np.stack([np.median(away[..., labels == k], axis=-1) for k in range(K)], axis=-1)


def distances(places: Floats) -> Floats:
    """The distance of every two places (..., K, D), shape (..., K, K)."""
    return np.asarray(np.linalg.norm(places[..., :, None, :] - places[..., None, :, :], axis=-1))


def nearest_to_own(X: Floats, labels: Ints, K: int) -> Floats:
    """The share of the first K groups' members that are nearest to their own median, (...)."""
    among, centres = labels < K, medians(X, labels, K)
    away = np.square(X[..., among, None, :] - centres[..., None, :, :]).sum(axis=-1)
    return np.asarray(np.mean(away.argmin(axis=-1) == labels[among], axis=-1))


def correlations(values: Floats, others: Ints, labels: Ints, K: int) -> Floats:
    """The correlation of values (..., N) and others (N,) within each group, shape (..., K)."""
    found = [
        [np.corrcoef(row[labels == k], others[labels == k])[0, 1] for k in range(K)]
        for row in np.atleast_2d(values)
    ]
    return np.reshape(found, (*values.shape[:-1], K))


def contested(Y: Floats, right: Floats, shown: int) -> Ints:
    """Columns of contested votes (N, M), from one of the worst explained to the median one.

    `right` (M,) is the share of its votes that a model explains; places, shape (shown,).
    """
    in_favour, cast = (Y > 0).sum(axis=0), (Y != 0).sum(axis=0)
    close = np.flatnonzero((np.abs(in_favour - cast / 2) < 0.35 * cast) & (cast > len(Y) / 4))
    if len(close) < shown:
        close = np.arange(Y.shape[1])
    order = close[np.argsort(right[close], kind="stable")]
    places = np.linspace(0.02, 0.5, shown) * (len(order) - 1)
    return np.asarray(order[places.astype(int)])


def astray(X: Floats, labels: Ints, neighbours: int = 1) -> Floats:
    """The share of members that nearest neighbours assign to another group, for (R, N, D)."""
    apart, K = np.arange(len(labels))[None], int(labels.max()) + 1
    return np.array([fold_errors(x, labels, [neighbours], apart, K)[0, 0] for x in X])


def between_share(X: Floats, labels: Ints) -> Floats:
    """The share of the variance of each coordinate that lies between groups, shape (..., D)."""
    means = np.stack([X[..., labels == k, :].mean(axis=-2) for k in np.unique(labels)], axis=-2)
    return np.asarray(means.var(axis=-2) / X.var(axis=-2))


def place_between(x: Floats, own: Floats, other: Floats) -> Floats:
    """Position of points (..., D) on the line from one median, 0, to the other, 1; shape (...)."""
    line = other - own
    return np.asarray(((x - own) * line).sum(axis=-1) / (line**2).sum(axis=-1))


def apart_on_a_line(X: Floats, labels: Ints) -> bool:
    """Whether some direction orders points (N, D) group after group, with gaps between groups.

    Each order of the groups is a linear programme: w^T x of one group is below a threshold and
    w^T x of the next above it, by one each.
    """
    groups = [X[labels == k] for k in np.unique(labels)]
    D, K = X.shape[1], len(groups)
    for order in permutations(range(K)):
        if order[0] > order[-1]:
            continue  # reversed orders have the solution -w
        rows = []
        for i, (one, next_one) in enumerate(pairwise(order)):
            for x, sign in ((groups[one], 1.0), (groups[next_one], -1.0)):
                threshold = np.zeros((len(x), K - 1))
                threshold[:, i] = -1.0
                rows.append(sign * np.hstack([x, threshold]))  # sign (w^T x - b_i) <= -1
        A = np.concatenate(rows)
        if linprog(np.zeros(D + K - 1), A, -np.ones(len(A)), bounds=(None, None)).success:
            return True
    return False
