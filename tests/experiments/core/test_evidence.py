"""The numbers behind a value: its evaluated sides, the deciding case, and its sequence."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_outcome import OUTCOME

from bythebook.experiments.core.evidence import (
    format_comparison,
    format_count,
    format_label,
    format_numbers,
    pluralise,
)
from bythebook.experiments.core.expressions import evaluate, explain
from bythebook.experiments.core.outcome import Outcome, axis, over


@pytest.mark.parametrize(
    ("text", "value", "explanation"),
    [
        ("level < 3", True, "2.5 < 3"),
        ("min(loss) > level", False, "1 > 2.5"),
        ("1 < level < 2", False, "1 < 2.5 < 2"),
        ("argmin(loss) in (3, 4)", True, "3 in (3, 4)"),
        ("argmin(loss) not in (3, 4)", False, "3 not in (3, 4)"),
        ("level < 3 and word == 'svm'", False, "2.5 < 3 and knn == svm"),
        ("level < 2 or level > 2", True, "2.5 < 2 or 2.5 > 2"),
        ("not level < 3", False, "not (2.5 < 3)"),
        ("level + 1", 3.5, "3.5"),
        ("true", True, "true"),
        ("loss", None, "an array over order"),
        # the deciding element: the worst for `all`, the best for `any`
        ("all(loss < 5)", True, "4 of 4; closest at order 1: 4 < 5"),
        ("all(loss <= 3)", False, "3 of 4; worst at order 1: 4 <= 3"),
        ("all(loss > 0)", True, "4 of 4; closest at order 3: 1 > 0"),
        ("all(loss >= 2)", False, "3 of 4; worst at order 3: 1 >= 2"),
        ("any(loss > 3.5)", True, "1 of 4; clearest at order 1: 4 > 3.5"),
        ("any(loss < 0)", False, "0 of 4; closest at order 3: 1 < 0"),
        ("all(loss != 2.1)", True, "4 of 4; closest at order 2: 2 != 2.1"),
        ("all(loss == 2)", False, "1 of 4; worst at order 1: 4 == 2"),
        ("any(loss == 2)", True, "1 of 4; clearest at order 2: 2 == 2"),
        ("all(broken > 0)", False, "3 of 4; worst at order 2: nan > 0"),
        ("all(table['train'] < table['loo'])", True, "4 of 4; closest at order 1: 0 < 4"),
        ("all(loss < table)", False, "8 of 12; worst at order 1, set train: 4 < 0"),
        ("all((loss < 2) == (loss < 3))", False, "3 of 4; worst at order 2: false == true"),
        ("all(best == 'a')", False, "2 of 3; false at set loo"),
        ("all(best != 'c')", True, "3 of 3"),
        ("all(1 < loss < 5)", False, "3 of 4; false at order 3"),
        ("all(loss < 4 and loss > 1)", False, "2 of 4 orders; false at order 1; order 3"),
        ("any(loss > 3 or loss < 2)", True, "2 of 4 orders; true at order 1; order 3"),
        (
            "all(falls(table, over='set'))",
            False,
            "0 of 4 orders; false at order 1; order 2; order 3, ...",
        ),
        ("not all(loss < 5)", False, "not (4 of 4; closest at order 1: 4 < 5)"),
        # sequences
        ("rises(loss)", False, "4, 2, 1, 3"),
        ("falls(loss[:3])", True, "4, 2, 1"),
        ("rises(table['loo'], over='order')", True, "4, 5, 6, 7"),
        (
            "falls(curve)",
            False,
            "1, 0.81, 0.64, 0.49, 0.36, 0.25, ..., 1 (21 values); largest rise at x 1: 0.81 then 1",
        ),
        (
            "never_falls(curve[0:])",
            True,
            "0, 0.01, 0.04, 0.09, 0.16, 0.25, ..., 1 (11 values); "
            "smallest step at x 0.1: 0 then 0.01",
        ),
        # agreement
        ("agree(level, 2.5)", True, "no difference"),
        ("agree(broken, 1)", False, "largest difference inf at order 2: nan and 1"),
        ("agree(level, 3)", False, "largest difference 0.5: 2.5 and 3"),
        ("agree(table['train'], loss)", False, "largest difference 4 at order 1: 0 and 4"),
        ("agree(table, along='set')", False, "largest difference 8 at order 1: 8 and 0"),
        # how often
        ("loss > 1", None, "3 of 4 orders"),
    ],
)
def test_explanation(text: str, value: Any, explanation: str) -> None:
    result = explain(text, OUTCOME)
    assert result.text == explanation
    if value is not None:
        assert result.value == value


def test_close_numbers_are_shown_with_enough_digits_to_differ() -> None:
    close = Outcome(a=1.00000001, b=1.00000002)
    assert explain("a < b", close).text == "1.00000001 < 1.00000002"
    assert explain("a < 2", close).text == "1 < 2"


@pytest.mark.parametrize(
    ("symbols", "sides", "text"),
    [
        (["<="], [1, 1.000000000000001], "1 <= 1 (equal up to rounding)"),
        (["<="], [0.1 + 0.2, 0.3], "0.3 <= 0.3 (equal up to rounding)"),
        (["<="], [1.0, 1.0], "1 <= 1"),
        (["<="], [-0.0, 0.0], "0 <= 0"),
        (["<"], [3, 3.00001], "3 < 3.00001"),  # a whole number and another one
        (["=="], [1234567, 1234567.0], "1234567 == 1234567"),
        (["<", "<"], [0.0, 1e-17, 1.0], "0 < 1e-17 < 1"),
        (["in"], [3, (3, 4)], "3 in (3, 4)"),
        ([">"], [float("nan"), float("nan")], "nan > nan"),
        (["=="], [True, False], "true == false"),
    ],
)
def test_two_sides_look_different_only_if_they_are(
    symbols: list[str], sides: list[Any], text: str
) -> None:
    assert format_comparison(symbols, sides) == text


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=4))
def test_equal_texts_stand_for_equal_numbers(values: list[float]) -> None:
    texts = format_numbers(values)
    for (i, a), (j, b) in combinations(enumerate(values), 2):
        if a == b:
            assert texts[i] == texts[j]
        elif abs(a - b) > 1e-11 * max(abs(a), abs(b)):
            assert texts[i] != texts[j]


def test_coordinates_are_formatted_in_the_words_of_the_axis() -> None:
    assert [format_label(v) for v in (3.0, 3, 1980.0, 123456789.0, 0.30000000000000004, "a")] == [
        *("3", "3", "1980", "123456789", "0.3", "a")
    ]
    outcome = Outcome(x=axis("data_set", [1.0, 2.0]).of([1.0, 2.0]))
    assert explain("all(x < 3)", outcome).text == "2 of 2; closest at data set 2: 2 < 3"


def test_counts_use_the_name_of_the_axis() -> None:
    truths = axis("data_set", 100).of(np.arange(100) < 86)
    assert format_count(truths) == "86 of 100 data sets"
    two = over(np.ones((2, 3), bool), axis("a", 2), axis("b", 3))
    assert format_count(two) == "6 of 6"
    one = over(np.ones((1, 3), bool), axis("method", ["exact"]), axis("draw", 3))
    assert format_count(one) == "3 of 3 draws"
    plurals = {"repetition": "repetitions", "box": "boxes", "history": "histories", "day": "days"}
    plurals |= {"index": "indices", "start_series": "start series", "branch": "branches"}
    assert {name: pluralise(name) for name in plurals} == plurals


@pytest.mark.parametrize("text", ["all(loss < table)", "any(table > 3)", "loss[2] < level"])
def test_an_explanation_has_the_value_of_the_expression(text: str) -> None:
    assert explain(text, OUTCOME).value is evaluate(text, OUTCOME)
