"""Counted operations against their closed forms."""

import numpy as np
from numpy.testing import assert_array_equal

from models.chains.hmm_recursions import forward_unscaled
from models.operation_counts import count_operations, recursion_costs
from models.types import Floats


def test_operations_are_counted_one_by_one() -> None:
    for K, T in ((1, 1), (2, 1), (2, 5), (4, 3)):
        tally = count_operations(forward_unscaled, np.ones(K), np.ones((K, K)), np.ones((T, K)))
        assert tally["products"] == K + (T - 1) * (K * K + K)
        assert tally["comparisons"] == 0


def test_the_largest_of_several_takes_comparisons() -> None:
    tally = count_operations(lambda a: (a + a).max(), np.arange(5.0))
    assert tally["sums"] == 5
    assert tally["comparisons"] >= 4


def test_quotients_exponentials_and_differences_count_too() -> None:
    def softmax(a: Floats) -> Floats:
        shifted = np.exp(a - a[0])
        assert shifted.argmin() == 0
        return shifted / shifted.sum() / 2.0

    tally = count_operations(softmax, np.arange(4.0))
    assert (tally["exponentials"], tally["quotients"], tally["sums"]) == (4, 8, 4 + 3)
    assert tally["comparisons"] == 3


def test_costs_come_by_states_and_lengths() -> None:
    K, T = np.array([2, 3, 5])[:, None], np.array([1, 4])
    found = recursion_costs(forward_unscaled, "products", [2, 3, 5], [1, 4])
    assert_array_equal(found, K + (T - 1) * (K * K + K))
