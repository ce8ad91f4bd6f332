"""Agreement of two clusterings up to the names of clusters."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from bythebook.models.types import Ints


def agreement(a: Ints, b: Ints, k: int) -> float:
    """The share of points on which two clusterings agree, under the best renaming of clusters."""
    table = np.zeros((k, k))
    np.add.at(table, (a, b), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(a))


def fewest_parts(fine: Ints, coarse: Ints) -> Ints:
    """The fewest clusters of a fine clustering that share a cluster of a coarse one, shape (R,).

    For R fine clusterings (R, N) of the points of one coarse clustering (N,).
    """
    groups = [coarse == k for k in np.unique(coarse)]
    return np.array([min(len(np.unique(row[own])) for own in groups) for row in fine])
