r"""Posterior of fair coins s_i given a weighted sum, Y = sum_i r_i s_i (Ghahramani 6).

    ways(Y) = coefficient of x^Y in prod_i (1 + x^{r_i})
    P(s_i = 1 | Y) = ways without coin i of reaching Y - r_i / ways(Y)

The product takes one coin after another and needs additions of the order of coins times Y,
independently of the number of settings. Whole numbers stay exact.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[Any]  # whole numbers of any size: the numbers of settings with sum 0, 1, ..., Y


def ways(weights: Sequence[int], total: int) -> Counts:
    """The number of settings of the coins with each sum up to `total`."""
    counts = np.zeros(total + 1, dtype=object)
    counts[0] = 1
    for weight in (w for w in weights if w <= total):
        counts[weight:] = counts[weight:] + counts[: total + 1 - weight]
    return counts


def additions(weights: Sequence[int], total: int) -> int:
    """The number of additions for `ways`, and for `without` each of the weights."""
    return sum(max(total + 1 - weight, 0) for weight in [*weights, *set(weights)])


def without(counts: Counts, weight: int) -> Counts:
    """The counts of all coins except one of this weight."""
    left = counts.copy()
    for k in range(weight, len(left)):
        left[k] = left[k] - left[k - weight]
    return left


def heads(counts: Counts, weight: int) -> Fraction:
    """P(s = 1 | Y) of a coin of this weight; Y is the last sum of the counts."""
    total = len(counts) - 1
    reached = without(counts, weight)[total - weight] if weight <= total else 0
    return Fraction(int(reached), int(counts[total]))


def both_heads(counts: Counts, one: int, other: int) -> Fraction:
    """P(s_i = 1, s_j = 1 | Y) of two coins of these weights."""
    total = len(counts) - 1
    rest = total - one - other
    reached = without(without(counts, one), other)[rest] if rest >= 0 else 0
    return Fraction(int(reached), int(counts[total]))
