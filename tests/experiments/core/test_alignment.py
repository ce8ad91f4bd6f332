"""Alignment of arrays by the names of their axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.alignment import (
    MAX_ELEMENTS,
    ExpressionError,
    align,
    apply_elementwise,
    broadcast_like,
    is_text,
    require_bool,
    require_number,
    require_scalar,
    single_value,
    to_scalar,
)
from bythebook.experiments.core.outcome import Quantity, axis, over

A, B, C = axis("a", 2), axis("b", 3), axis("c", 4)


def test_axes_are_matched_by_name_in_any_order() -> None:
    x = over(np.arange(6).reshape(2, 3), A, B)
    found = apply_elementwise(np.subtract, x, over(x.values.T, B, A))
    assert found.dims == ("a", "b")
    assert not found.values.any()


def test_different_axes_of_equal_length_give_an_outer_sum() -> None:
    """NumPy would add the arrays elementwise."""
    x, y = axis("a", 2).of([1, 2]), axis("b", 2).of([10, 20])
    found = apply_elementwise(np.add, x, y)
    assert found.dims == ("a", "b")
    assert found.values.tolist() == [[11, 21], [12, 22]]


@given(st.permutations("abc"), st.permutations("abc"), st.integers(0, 3), st.integers(0, 3))
def test_against_einsum(left: list[str], right: list[str], m: int, n: int) -> None:
    """Products over any axes in any order, compared with Einstein notation."""
    known = {"a": A, "b": B, "c": C}
    rng = np.random.default_rng(0)
    x, y = (
        over(rng.standard_normal([len(known[k]) for k in names]), *(known[k] for k in names))
        for names in (left[:m], right[:n])
    )
    found = apply_elementwise(np.multiply, to_scalar(x), to_scalar(y))
    letters = "".join(dict.fromkeys(x.dims + y.dims))
    expected = np.einsum(f"{''.join(x.dims)},{''.join(y.dims)}->{letters}", x.values, y.values)
    if letters:
        assert found.dims == tuple(letters)
        assert np.array_equal(found.values, expected)
    else:
        assert found == expected


def test_axes_with_different_coordinates_are_refused() -> None:
    x, y = axis("a", [1, 2]).of([1, 2]), axis("a", [1, 3]).of([1, 2])
    with pytest.raises(ExpressionError, match="coordinates of axis a do not match: 1, 2 and 1, 3"):
        apply_elementwise(np.add, x, y)
    three = axis("a", [1, 2, 3]).of([1, 2, 3])
    with pytest.raises(ExpressionError, match="axis a do not match"):  # different lengths
        apply_elementwise(np.add, x, three)


def test_an_array_with_one_element_counts_as_a_number() -> None:
    one, x = axis("a", [5]).of([10]), axis("a", [1, 2]).of([1, 2])
    assert apply_elementwise(np.add, x, one).values.tolist() == [11, 12]
    assert apply_elementwise(np.add, axis("a", [6]).of([1]), one) == 11
    kept = apply_elementwise(np.add, over([[1]], axis("a", [5]), axis("m", ["exact"])), one)
    assert (kept.dims, kept.values.tolist()) == (("a", "m"), [[11]])
    assert single_value(one) == 10
    assert single_value(x) is x
    assert require_scalar(one, "in") == 10
    assert broadcast_like(one, x).tolist() == [10, 10]
    assert broadcast_like(x, over(np.zeros((3, 2)), B, axis("a", [1, 2]))).tolist() == [[1, 2]] * 3


def test_the_size_of_the_result_is_bounded() -> None:
    side = int(MAX_ELEMENTS**0.5)
    x, y = axis("a", side).of(np.zeros(side, bool)), axis("b", side).of(np.zeros(side, bool))
    assert apply_elementwise(np.logical_and, x, y).values.size == MAX_ELEMENTS
    more = axis("b", side + 1).of(np.zeros(side + 1, bool))
    with pytest.raises(ExpressionError, match="more than"):
        apply_elementwise(np.logical_and, x, more)


def test_scalars_give_plain_values() -> None:
    assert type(apply_elementwise(np.add, 1, 2)) is int
    assert type(apply_elementwise(np.add, 1.0, 2)) is float
    assert type(apply_elementwise(np.less, 1, 2)) is bool
    assert apply_elementwise(np.add, A.of([1, 2]), 10).values.tolist() == [11, 12]


def test_align_inserts_axes_of_length_one() -> None:
    x = over(np.arange(6).reshape(2, 3), A, B)
    assert align(x, ("b", "c", "a")).shape == (3, 1, 2)
    assert align(x, ("b", "c", "a"))[2, 0, 1] == x.values[1, 2]
    assert align(5, ("a",)) == 5


def test_kinds_of_values() -> None:
    words, numbers = A.of(["x", "y"]), A.of([1, 2])
    assert is_text("x")
    assert is_text(words)
    assert not is_text(1)
    assert not is_text(numbers)
    assert require_number(numbers) is numbers
    assert require_number(True) is True
    for value in ("x", words, (1, 2)):
        with pytest.raises(ExpressionError, match="a number is required"):
            require_number(value)
    assert require_scalar(3, "in") == 3
    with pytest.raises(ExpressionError, match="in requires a single value, not an array over a"):
        require_scalar(numbers, "in")
    assert require_bool(True, "not") is True
    both = A.of([True, False])
    assert require_bool(both, "not") is both
    for value in (1, 0.0, "x", A.of([1, 0])):
        with pytest.raises(ExpressionError, match="not requires comparisons"):
            require_bool(value, "not")


def test_quantities_without_axes_become_plain_values() -> None:
    assert to_scalar(Quantity(3)) == 3
    assert type(to_scalar(np.float64(3))) is float
    x = A.of([1, 2])
    assert to_scalar(x) is x
