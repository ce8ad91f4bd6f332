"""Counted operations against their closed forms."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.chains.hmm_recursions import forward_unscaled
from bythebook.models.operation_counts import count_operations
from bythebook.models.types import Floats


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


def test_tallied_numbers_compare_and_compute_as_numbers_do() -> None:
    """Of equal numbers the first is the smallest and the largest, as in NumPy."""
    values = np.array([3.0, -1.0, 4.0, -1.0, 4.0, 0.5])
    seen: dict[str, object] = {}

    def work(a: Floats, b: Floats) -> None:
        seen.update(least=a.argmin(), largest=a.max().value)
        for name, result in (("+", a + b), ("-", a - b), ("*", a * b), ("/", a / b)):
            seen[name] = [each.value for each in result]
        seen["exp"] = [each.value for each in np.exp(a)]
        seen["half"] = [each.value for each in a / 2.0]

    count_operations(work, values, values + 0.25)
    assert seen["least"] == 1
    assert seen["largest"] == 4.0
    other = values + 0.25
    for name, expected in (
        ("+", values + other),
        ("-", values - other),
        ("*", values * other),
        ("/", values / other),
        ("exp", np.exp(values)),
        ("half", values / 2),
    ):
        assert_allclose(seen[name], expected, rtol=1e-15)
