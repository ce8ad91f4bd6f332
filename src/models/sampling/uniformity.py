r"""Tests of uniformity on (0, 1) and of independence.

The distribution function maps draws from its density to such numbers. The Kolmogorov-Smirnov
distance

    D_n = max_i max(i / n - u_(i), u_(i) - (i - 1) / n)

of n of them exceeds its value with a probability that tends to Q(sqrt(n) D_n); with Stephens'
factor sqrt(n) + 0.12 + 0.11 / sqrt(n) also for few of them. All tests take batches, along the last
axis; NaN counts as zero.
"""

import numpy as np
from scipy.special import chdtrc, kolmogorov

from bythebook.models.types import Floats, Ints

CELLS = 4  # intervals per axis in the tables of pairs


def distance(u: Floats) -> Floats:
    """The largest distance of the distribution function of u (..., n) from that of U(0, 1)."""
    n = u.shape[-1]
    ordered = np.sort(u, axis=-1)
    above = np.arange(1, n + 1) / n - ordered
    below = ordered - np.arange(n) / n
    return np.asarray(np.maximum(above.max(-1), below.max(-1)))


def even(u: Floats) -> Floats:
    """The probability of a distance at least as large, if u (..., n) is uniform."""
    root = np.sqrt(u.shape[-1])
    return np.asarray(kolmogorov((root + 0.12 + 0.11 / root) * distance(np.nan_to_num(u))))


def all_even(u: Floats) -> Floats:
    """The same of several components u (..., n, D): the smallest, times their number."""
    found = even(np.moveaxis(u, -1, -2))
    return np.asarray(np.minimum(1.0, found.min(-1) * found.shape[-1]))


def from_counts(counts: Ints) -> Floats:
    """Pearson's probability that counts (..., cells) come from cells of equal probability."""
    expected = counts.sum(-1, keepdims=True) / counts.shape[-1]
    return np.asarray(chdtrc(counts.shape[-1] - 1, ((counts - expected) ** 2 / expected).sum(-1)))


def tally(cell: Ints, cells: int) -> Ints:
    """The number of entries in each cell 0, ..., cells - 1 along the last axis."""
    flat = cell.reshape(-1, cell.shape[-1])
    start = np.arange(len(flat))[:, None] * cells
    counts = np.bincount((flat + start).ravel(), minlength=len(flat) * cells)
    return counts.reshape(*cell.shape[:-1], cells)


def independent(u: Floats, v: Floats) -> Floats:
    """Pearson's probability that two sets (..., n) of uniform numbers are independent."""
    places = [np.clip((np.nan_to_num(x) * CELLS).astype(np.int64), 0, CELLS - 1) for x in (u, v)]
    return from_counts(tally(places[0] * CELLS + places[1], CELLS**2))
