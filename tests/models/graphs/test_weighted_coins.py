"""Coins known by their sum: against all settings, in whole numbers."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bythebook.models.graphs.weighted_coins import additions, both_heads, heads, ways, without

WEIGHTS = [1, 2, 2, 5, 7, 3, 1]
SETTINGS = list(product((0, 1), repeat=len(WEIGHTS)))


def reaching(total: int) -> list[tuple[int, ...]]:
    return [s for s in SETTINGS if sum(np.multiply(s, WEIGHTS)) == total]


@pytest.mark.parametrize("total", range(22))
def test_against_all_settings(total: int) -> None:
    counts, right = ways(WEIGHTS, total), reaching(total)
    assert counts.tolist() == [len(reaching(k)) for k in range(total + 1)]
    if not right:
        return
    for i, weight in enumerate(WEIGHTS):
        assert heads(counts, weight) == Fraction(sum(s[i] for s in right), len(right))
    for i, j in ((0, 6), (1, 2), (3, 4)):
        both = Fraction(sum(s[i] * s[j] for s in right), len(right))
        assert both_heads(counts, WEIGHTS[i], WEIGHTS[j]) == both


def test_a_coin_taken_out_again() -> None:
    assert without(ways(WEIGHTS, 15), 5).tolist() == ways([1, 2, 2, 7, 3, 1], 15).tolist()


def test_large_counts_stay_exact() -> None:
    assert ways([1] * 200, 100)[100] == Fraction(1) * np.prod(
        [Fraction(100 + k, k) for k in range(1, 101)]
    )


def test_additions_are_counted() -> None:
    assert additions([1, 2, 2], 3) == 3 + 2 + 2 + 3 + 2
    assert additions([9], 3) == 0
