"""Arrays meet by the names of their axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.labelled import (
    MOST_ENTRIES,
    BadExpression,
    aligned,
    elementwise,
    is_text,
    number,
    single,
    truths,
    unwrapped,
)
from experiments.contract.outcome import Quantity, axis, over

A, B, C = axis("a", 2), axis("b", 3), axis("c", 4)


def test_axes_are_matched_by_name_whatever_their_order() -> None:
    x = over(np.arange(6).reshape(2, 3), A, B)
    found = elementwise(np.subtract, x, over(x.values.T, B, A))
    assert found.names == ("a", "b")
    assert not found.values.any()


def test_axes_of_equal_length_are_not_mistaken_for_each_other() -> None:
    """What NumPy would add place by place is an outer sum here."""
    x, y = axis("a", 2).of([1, 2]), axis("b", 2).of([10, 20])
    found = elementwise(np.add, x, y)
    assert found.names == ("a", "b")
    assert found.values.tolist() == [[11, 21], [12, 22]]


@given(st.permutations("abc"), st.permutations("abc"), st.integers(0, 3), st.integers(0, 3))
def test_against_einsum(left: list[str], right: list[str], m: int, n: int) -> None:
    """Products over any axes in any order, against an index notation that says it by letters."""
    known = {"a": A, "b": B, "c": C}
    rng = np.random.default_rng(0)
    x, y = (
        over(rng.standard_normal([len(known[k]) for k in names]), *(known[k] for k in names))
        for names in (left[:m], right[:n])
    )
    found = elementwise(np.multiply, unwrapped(x), unwrapped(y))
    letters = "".join(dict.fromkeys(x.names + y.names))
    expected = np.einsum(f"{''.join(x.names)},{''.join(y.names)}->{letters}", x.values, y.values)
    if letters:
        assert found.names == tuple(letters)
        assert np.array_equal(found.values, expected)
    else:
        assert found == expected


def test_axes_with_other_coordinates_do_not_meet() -> None:
    x, y = axis("a", [1, 2]).of([1, 2]), axis("a", [1, 3]).of([1, 2])
    with pytest.raises(BadExpression, match="axis a differs: 1, 2 and 1, 3"):
        elementwise(np.add, x, y)
    with pytest.raises(BadExpression, match="axis a differs"):  # nor do those of another length
        elementwise(np.add, x, axis("a", [1]).of([1]))


def test_the_bound_is_on_the_result() -> None:
    side = int(MOST_ENTRIES**0.5)
    x, y = axis("a", side).of(np.zeros(side, bool)), axis("b", side).of(np.zeros(side, bool))
    assert elementwise(np.logical_and, x, y).values.size == MOST_ENTRIES
    more = axis("b", side + 1).of(np.zeros(side + 1, bool))
    with pytest.raises(BadExpression, match="more than"):
        elementwise(np.logical_and, x, more)


def test_scalars_give_plain_values() -> None:
    assert type(elementwise(np.add, 1, 2)) is int
    assert type(elementwise(np.add, 1.0, 2)) is float
    assert type(elementwise(np.less, 1, 2)) is bool
    assert elementwise(np.add, A.of([1, 2]), 10).values.tolist() == [11, 12]


def test_alignment_makes_room_for_other_axes() -> None:
    x = over(np.arange(6).reshape(2, 3), A, B)
    assert aligned(x, ("b", "c", "a")).shape == (3, 1, 2)
    assert aligned(x, ("b", "c", "a"))[2, 0, 1] == x.values[1, 2]
    assert aligned(5, ("a",)) == 5


def test_kinds_of_values() -> None:
    words, numbers = A.of(["x", "y"]), A.of([1, 2])
    assert is_text("x")
    assert is_text(words)
    assert not is_text(1)
    assert not is_text(numbers)
    assert number(numbers) is numbers
    assert number(True) is True
    for value in ("x", words, (1, 2)):
        with pytest.raises(BadExpression, match="a number is needed"):
            number(value)
    assert single(3, "in") == 3
    with pytest.raises(BadExpression, match="in takes one value, not an array over a"):
        single(numbers, "in")
    assert truths(True, "not") is True
    both = A.of([True, False])
    assert truths(both, "not") is both
    for value in (1, 0.0, "x", A.of([1, 0])):
        with pytest.raises(BadExpression, match="not needs comparisons"):
            truths(value, "not")


def test_what_has_no_axes_is_a_plain_value() -> None:
    assert unwrapped(Quantity(3)) == 3
    assert type(unwrapped(np.float64(3))) is float
    x = A.of([1, 2])
    assert unwrapped(x) is x
