"""The comparison of one printed random draw with repetitions of it."""

from decimal import Decimal
from typing import NamedTuple

import numpy as np

from bythebook.experiments.core.printed_numbers import last_digit_unit, parse_printed_number
from bythebook.models.types import AnyArray

SIGNIFICANCE = 0.05  # a printed draw of smaller probability is not consistent with ours
# A claim about a drawn integer is weak if a larger fraction of the values that occur would pass.
WEAK_PASS_FRACTION = 2 / 3


class DrawTest(NamedTuple):
    """The comparison of a printed value with repetitions."""

    chance: float  # probability of values at least as improbable as the printed one
    low: float  # printed values from `low` to `high` would pass
    high: float
    weak: bool  # almost every printed value would pass


def draw_test(draws: AnyArray, printed: str) -> DrawTest:
    """Two-sided test of a printed value against repetitions of the draw.

    Integers: the total frequency of all values that are at most as frequent as the printed one,
    which must occur itself. Other numbers: twice the smaller tail probability, where each tail
    includes the rounding interval of the printed value.
    """
    target = parse_printed_number(printed) or Decimal(0)
    value, half = float(target), float(last_digit_unit(target) / 2)
    if target == target.to_integral_value() and np.all(draws == np.round(draws)):
        values, counts = np.unique(draws, return_counts=True)
        shares = counts / draws.size
        # Equal shares may differ by rounding.
        chances = np.array([shares[shares <= share * (1 + 1e-9)].sum() for share in shares])
        chance = float(chances[values == value].sum())
        passing = values[chances >= SIGNIFICANCE]
        weak = len(passing) > 1 and len(passing) > WEAK_PASS_FRACTION * len(values)
        return DrawTest(chance, float(passing[0]), float(passing[-1]), bool(weak))
    tails = np.mean(draws <= value + half), np.mean(draws >= value - half)
    low, high = np.quantile(draws, [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2])
    weak = high - low > abs(np.median(draws))
    return DrawTest(min(1.0, 2 * float(min(tails))), float(low), float(high), bool(weak))
