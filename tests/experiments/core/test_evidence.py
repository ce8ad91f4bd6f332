"""Explanations of a statement: its evaluated sides, and the closest case."""

from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.explanations import explain
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Outcome, axis, over

ORDER = axis("order", [1, 2, 3, 4])
SET = axis("set", ["train", "loo", "test"])
GRID = axis("x", np.linspace(-1, 1, 21))
OUTCOME = Outcome(
    loss=ORDER.of([4.0, 2.0, 1.0, 3.0]),
    table=over(np.arange(12.0).reshape(3, 4), SET, ORDER),
    curve=GRID.of(np.linspace(-1, 1, 21) ** 2),
    best=axis("set", SET.values).of(["a", "b", "a"]),
    broken=ORDER.of([1.0, np.nan, 3.0, 4.0]),
    level=2.5,
    number=3,
    word="knn",
    true=True,
)


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
        ("all(loss <= 3)", False, "3 of 4; closest at order 1: 4 <= 3"),
        ("all(loss > 0)", True, "4 of 4; closest at order 3: 1 > 0"),
        ("all(loss >= 2)", False, "3 of 4; closest at order 3: 1 >= 2"),
        ("any(loss > 3.5)", True, "1 of 4; closest at order 1: 4 > 3.5"),
        ("any(loss < 0)", False, "0 of 4; closest at order 3: 1 < 0"),
        ("all(loss != 2.1)", True, "4 of 4; closest at order 2: 2 != 2.1"),
        ("all(loss == 2)", False, "1 of 4; closest at order 1: 4 == 2"),
        ("any(loss == 2)", True, "1 of 4; closest at order 2: 2 == 2"),
        ("all(broken > 0)", False, "3 of 4; closest at order 2: nan > 0"),
        ("all(table['train'] < table['loo'])", True, "4 of 4; closest at order 1: 0 < 4"),
        ("all(loss < table)", False, "8 of 12; closest at order 1, set train: 4 < 0"),
        ("all((loss < 2) == (loss < 3))", False, "3 of 4; closest at order 2: false == true"),
        ("all(best == 'a')", False, "2 of 3"),
        ("all(1 < loss < 5)", False, "3 of 4"),
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


@pytest.mark.parametrize("text", ["all(loss < table)", "any(table > 3)", "loss[2] < level"])
def test_an_explanation_has_the_value_of_the_expression(text: str) -> None:
    assert explain(text, OUTCOME).value is evaluate(text, OUTCOME)
