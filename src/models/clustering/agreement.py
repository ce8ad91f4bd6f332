"""Two clusterings compared: names of clusters mean nothing."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from models.types import Ints


def agreement(a: Ints, b: Ints, k: int) -> float:
    """The share of points on which two clusterings agree, under the best renaming of clusters."""
    table = np.zeros((k, k))
    np.add.at(table, (a, b), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(a))
