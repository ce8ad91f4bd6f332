"""Two clusterings compared: names of clusters mean nothing."""

from itertools import islice, permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from models.types import Ints


def agreement(a: Ints, b: Ints, k: int) -> float:
    """The share of points on which two clusterings agree, under the best renaming of clusters."""
    table = np.zeros((k, k))
    np.add.at(table, (a, b), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(a))


def renamings(k: int, most: int = 720) -> Ints:
    """The orders of k clusters, shape (k!, k): all of them, up to six clusters."""
    return np.array(list(islice(permutations(range(k)), most)))
