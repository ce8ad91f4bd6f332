"""Operations counted by hand."""

import numpy as np
from numpy.testing import assert_array_equal

from bythebook.models.graphs.counting import counted
from bythebook.models.graphs.factors import MAX_PRODUCT, Factor, product, sum_out


def test_products_and_sums_are_counted_number_by_number() -> None:
    ring, tally = counted()
    assert_array_equal(ring.times(np.ones((2, 1)), np.full((1, 3), 2.0)), np.full((2, 3), 2.0))
    assert tally.operations == 6
    assert_array_equal(ring.plus.reduce(np.ones((2, 3)), axis=(1,)), [3, 3])
    assert tally.operations == 6 + 2 * 2


def test_a_matrix_times_a_vector() -> None:
    ring, tally = counted(MAX_PRODUCT)
    factors = [Factor(("a",), np.arange(3.0)), Factor(("a", "b"), np.ones((3, 4)))]
    found = sum_out(product(factors, ring), ["a"], ring)
    assert_array_equal(found.table, [2, 2, 2, 2])
    assert tally.operations == 3 + 12 + 2 * 4  # the first is one times the vector
