r"""K nearest neighbours: the majority among the K closest training points (FCML 5.3.1).

    t_new = argmax_c #{n among the K nearest: t_n = c}
    d^2(x, y) = (x - y)^T (x - y) = k(x, x) - 2 k(x, y) + k(y, y)                  FCML 5.3.2.6

The distance needs inner products only, so any kernel k may replace them. Votes are separate from
decisions, because a tie can be broken in several ways (here: the class with the smaller number).
One ordering of the neighbours gives the votes of all K, and the same ordering without the points of
the own fold gives cross-validation.
"""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import label
from scipy.spatial.distance import cdist

from bythebook.models.types import Bools, Floats, Ints


def squared_distances(X: Floats, Y: Floats) -> Floats:
    """(x - y)^T (x - y) of points (N, D) and (M, D), shape (N, M)."""
    return np.asarray(cdist(X, Y, "sqeuclidean"))


def kernel_distances(X: Floats, Y: Floats, kernel: Callable[[Floats, Floats], Floats]) -> Floats:
    """Squared distances of points (N, D) and (M, D) in the space of a kernel, shape (N, M)."""
    # A point's kernel with itself, one at a time: all pairs are not needed.
    x, y = (np.array([kernel(each[None], each[None])[0, 0] for each in Z]) for Z in (X, Y))
    return np.asarray(x[:, None] - 2 * kernel(X, Y) + y)  # FCML 5.3.2.6


def votes(distances: Floats, t: Ints, ks: list[int], C: int) -> Ints:
    """Votes for each class among the K nearest, for each K, shape (len(ks), Q, C).

    `distances` (Q, N) of Q new points from N training points of classes t (N,) in 0, ..., C - 1.
    """
    most = min(max(ks), len(t))
    if most < len(t):
        near = np.argpartition(distances, most - 1, axis=1)[:, :most]
        inner = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, inner, axis=1)
    else:
        near = np.argsort(distances, axis=1, kind="stable")
    found = (t[near][..., None] == np.arange(C)).cumsum(axis=1)  # (Q, most, C)
    return np.asarray(found[:, [min(k, most) - 1 for k in ks]].transpose(1, 0, 2))


def majority(tally: Ints) -> Ints:
    """The class with the most votes along the last axis; the first of those that tie."""
    return np.asarray(tally.argmax(-1))


def fold_errors(X: Floats, t: Ints, ks: list[int], folds: Ints, C: int = 2) -> Floats:
    """Share of points that their neighbours in other folds misclassify, shape (P, len(ks)).

    `folds` (P, N) gives every point's fold in each of P partitions; a fold for each point is
    leave-one-out.
    """
    largest = max(int(np.bincount(row).max()) for row in folds)
    depth = min(max(ks) + largest, len(X))  # enough, even if all points of the own fold are nearest
    near = np.argsort(squared_distances(X, X), axis=1, kind="stable")[:, :depth]
    other = folds[:, near] != folds[:, :, None]  # (P, N, depth)
    # A stable sort puts those of other folds first and leaves them in order of distance.
    chosen = np.argsort(~other, axis=-1, kind="stable")[..., : max(ks)]
    labels = np.take_along_axis(np.broadcast_to(t[near], other.shape), chosen, axis=-1)
    tally = (labels[..., None] == np.arange(C)).cumsum(-2)  # (P, N, max(ks), C)
    decided = majority(tally[:, :, np.array(ks) - 1])
    return np.asarray((decided != t[:, None]).mean(1))


def random_partitions(N: int, folds: int, repetitions: int, rng: np.random.Generator) -> Ints:
    """The fold of every point in random partitions with folds of nearly equal size, (P, N)."""
    even = np.broadcast_to(np.arange(N) % folds, (repetitions, N))
    return np.asarray(rng.permuted(even, axis=1))


def islands(regions: Bools) -> Ints:
    """Regions of either class beyond the first of each, on maps (..., rows, columns).

    Points that touch by a corner are one region.
    """
    touching = np.ones((3, 3))

    def more(region: Bools) -> int:
        counts = [label(part, touching)[1] for part in (region, ~region)]
        return sum(max(count - 1, 0) for count in counts)

    flat = regions.reshape(-1, *regions.shape[-2:])
    return np.array([more(region) for region in flat]).reshape(regions.shape[:-2])
