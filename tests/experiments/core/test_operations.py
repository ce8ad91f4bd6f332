"""Operators of quantities and selection by label: the same as in the language of claims."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.operations import select
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over

ORDER, SET = axis("order", [1, 2, 3, 4]), axis("set", ["train", "loo", "test"])
OUTCOME = Outcome(
    loss=ORDER.of([4.0, 2.0, 1.0, 3.0]),
    table=over(np.arange(12.0).reshape(3, 4), SET, ORDER),
    ranks=ORDER.of([1, 2, 2, 4]),
    level=2.5,
)
LOSS, TABLE, RANKS, LEVEL = (OUTCOME[name] for name in OUTCOME)

IN_PYTHON: dict[str, Callable[[], Any]] = {
    "loss + table": lambda: LOSS + TABLE,
    "1 + loss": lambda: 1 + LOSS,
    "table - loss": lambda: TABLE - LOSS,
    "1 - loss": lambda: 1 - LOSS,
    "loss * level": lambda: LOSS * LEVEL,
    "2 * loss": lambda: 2 * LOSS,
    "loss / level": lambda: LOSS / LEVEL,
    "1 / loss": lambda: 1 / LOSS,
    "ranks ** 2": lambda: RANKS**2,
    "2 ** ranks": lambda: 2**RANKS,
    "level * 2": lambda: LEVEL * 2,
    "-ranks": lambda: -RANKS,
    "abs(-loss)": lambda: abs(-LOSS),
    "loss < table": lambda: LOSS < TABLE,
    "loss <= 2": lambda: LOSS <= 2,
    "2 > loss": lambda: operator.gt(2, LOSS),
    "loss >= level": lambda: LOSS >= LEVEL,
    "ranks == 2": lambda: RANKS == 2,
    "ranks != 2": lambda: RANKS != 2,
    "loss > 1 and loss < 4": lambda: (LOSS > 1) & (LOSS < 4),
    "loss < 2 or loss > 3": lambda: (LOSS < 2) | (LOSS > 3),
    "not loss < 2": lambda: ~(LOSS < 2),
    "loss[3]": lambda: LOSS[3],
    "loss[2:3]": lambda: LOSS[2:3],
    "table['loo']": lambda: TABLE["loo"],
    "table['loo':, 3]": lambda: TABLE["loo":, 3],
    "table['test', 4] > level": lambda: TABLE["test", 4] > LEVEL,
}


@pytest.mark.parametrize("text", IN_PYTHON)
def test_an_operator_in_python_is_that_of_the_language(text: str) -> None:
    in_python, in_claims = IN_PYTHON[text](), evaluate(text, OUTCOME)
    assert type(in_python) is type(in_claims)
    if isinstance(in_claims, Quantity):
        assert in_python.dims == in_claims.dims
        assert in_python.values.tolist() == in_claims.values.tolist()
    else:
        assert in_python == in_claims


def test_operators_are_those_of_numpy_after_alignment() -> None:
    """The table has the sets in its rows, and the losses belong to its columns."""
    losses, table = LOSS.values, TABLE.values
    assert np.array_equal((TABLE - LOSS).values, table - losses)
    assert np.array_equal((LOSS - TABLE).values, losses[:, None] - table.T)
    assert np.array_equal((LOSS < TABLE).values, losses[:, None] < table.T)


def test_numbers_and_arrays_of_numpy_are_operands() -> None:
    assert (np.float64(2) * LOSS).values.tolist() == [8.0, 4.0, 2.0, 6.0]
    assert (np.array([4.0, 2.0, 1.0, 3.0]) - LOSS).values.tolist() == [0.0] * 4
    assert (LOSS - np.array([4.0, 2.0, 1.0, 3.0])).dims == ("order",)
    assert np.sqrt(LOSS).tolist() == [2.0, np.sqrt(2), 1.0, np.sqrt(3)]
    with pytest.raises(ValueError, match="shape"):
        LOSS + np.ones(3)


def test_an_array_is_neither_true_nor_false() -> None:
    assert bool(LEVEL > 1) is True
    assert bool(axis("one", [7]).of([False])) is False
    with pytest.raises(ValueError, match="over order is neither true nor false"):
        bool(LOSS > 1)
    assert list(LOSS) == [4.0, 2.0, 1.0, 3.0]
    assert [row.dims for row in TABLE] == [("order",)] * 3


METHOD = axis("method", ["exact"])
SINGLE = over(np.arange(8.0).reshape(1, 4, 2), METHOD, ORDER, axis("fold", [1, 9]))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["exact", 3, 9], 5.0),
        ([3, 9], [5.0]),  # the method is left out
        ([3], [[4.0, 5.0]]),
        (["exact"], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]),
        ([slice(3, None), 9], [[5.0, 7.0]]),
        ([slice(None), 3], [[4.0, 5.0]]),  # `:` is the method, as the first axis
    ],
)
def test_leading_axes_with_one_place_may_be_left_out(entries: list[Any], expected: Any) -> None:
    part = select(SINGLE, entries)
    assert (part.values.tolist() if isinstance(part, Quantity) else part) == expected


def test_a_label_belongs_to_the_first_axis_that_has_it() -> None:
    both = over(np.arange(3.0).reshape(1, 3), axis("n", [2]), axis("order", [1, 2, 3]))
    assert select(both, [2]).dims == ("order",)
    assert select(both, [3]).values.tolist() == [2.0]
    with pytest.raises(ExpressionError, match="the slice belongs to axis n or to axis order"):
        select(both, [slice(1, 2)])
    with pytest.raises(LookupError, match="axis order has no coordinate 9; allowed: 1, 2, 3"):
        select(both, [9])
    long = over(np.zeros((2, 3)), axis("n", [1, 2]), axis("order", [1, 2, 3]))
    with pytest.raises(LookupError, match="axis n has no coordinate 3"):
        select(long, [3])
