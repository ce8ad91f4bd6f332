"""The language of claims: valid and invalid expressions."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_outcome import OUTCOME

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.errors import single_line
from bythebook.experiments.core.expressions import (
    MAX_CHARS,
    MAX_NODES,
    evaluate,
    explain,
    quantity_names,
)
from bythebook.experiments.core.outcome import Outcome, Quantity, axis


def found(text: str) -> Any:
    value = evaluate(text, OUTCOME)
    return value.values.tolist() if isinstance(value, Quantity) else value


def refused(text: str) -> str:
    with pytest.raises(ExpressionError) as error:
        evaluate(text, OUTCOME)
    with pytest.raises(ExpressionError):
        explain(text, OUTCOME)
    line = str(error.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # labels are coordinates, not positions
        ("loss[1]", 4.0),
        ("loss[4]", 3.0),
        ("loss[3.0]", 1.0),
        ("table['test', 4]", 11.0),
        ("table['loo']", [4.0, 5.0, 6.0, 7.0]),
        ("table[:, 2]", [1.0, 5.0, 9.0]),
        ("table['loo'][2]", 5.0),
        ("loss[argmin(loss)]", 1.0),
        ("loss[number]", 1.0),
        ("curve[0]", 0.0),  # the grid's own zero is 1e-17 or so
        ("curve[0.3]", 0.3**2),
        # slices are by coordinate, both ends included
        ("loss[2:3]", [2.0, 1.0]),
        ("loss[2:2]", [2.0]),
        ("loss[1.5:3.5]", [2.0, 1.0]),
        ("loss[:2]", [4.0, 2.0]),
        ("loss[3:]", [1.0, 3.0]),
        ("loss[:]", [4.0, 2.0, 1.0, 3.0]),
        ("loss[-9:9]", [4.0, 2.0, 1.0, 3.0]),
        ("size(curve[0.1:0.3])", 3),
        ("size(curve[-0.1:0.1])", 3),
        ("size(curve[:0])", 11),
        ("table['train':'loo', 1]", [0.0, 4.0]),
        ("table['loo':, 3:4]", [[6.0, 7.0], [10.0, 11.0]]),
        ("table[:'train', 1]", [0.0]),
        # arithmetic
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-level", -2.5),
        ("+level", 2.5),
        ("2 ** 3", 8.0),
        ("2 ** -1", 0.5),
        ("(-8) ** 2", 64.0),
        ("7 / 2", 3.5),
        ("2 * loss[1:2] - 1", [7.0, 3.0]),
        ("(1 < 2) + (2 < 3) - (3 < 4)", 1),
        ("-(1 < 2)", -1),
        ("(loss > 1) * (loss < 4)", [False, True, False, True]),  # elementwise conjunction
        ("count((loss > 1) * (loss < 4))", 2),
        ("(loss > 1) + (loss < 4)", [1, 2, 1, 2]),
        ("2 * (1 < 2)", 2),
        # comparisons, strict and not
        ("level < 2.5", False),
        ("level <= 2.5", True),
        ("level > 2.5", False),
        ("level >= 2.5", True),
        ("level == 2.5", True),
        ("level != 2.5", False),
        ("loss < 2", [False, False, True, False]),
        ("1 < loss <= 3", [False, True, False, True]),
        ("1 < level < 2", False),
        ("2 < level < 3", True),
        ("3 > level > 2 < 4", True),
        ("3 > level > 2 < 1", False),
        ("word == 'knn'", True),
        ("word != 'knn'", False),
        ("best == 'a'", [True, False, True]),
        ("argmin(loss) in (3, 4)", True),
        ("argmin(loss) in [1, 2]", False),
        ("argmin(loss) not in (1, 2)", True),
        ("argmin(loss) not in (3,)", False),
        ("word in ('svm', 'knn')", True),
        # logic
        ("1 < 2 and 2 < 1", False),
        ("1 < 2 and 2 < 3", True),
        ("1 < 2 or 2 < 1", True),
        ("2 < 1 or 3 < 1", False),
        ("1 < 2 and 2 < 3 and 3 < 2", False),
        ("not 1 < 2", False),
        ("not (2 < 1 or true) or true", True),
        ("true", True),
        ("pi", np.pi),
        ("level < inf", True),
        ("  level  ", 2.5),
    ],
)
def test_values(text: str, value: Any) -> None:
    right = pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value
    assert found(text) == right
    assert type(found(text)) is type(value)


def test_a_comparison_with_nan_is_false() -> None:
    assert found("broken > 0") == [True, False, True, True]
    assert found("broken <= 0") == [False] * 4
    assert found("broken[2] == broken[2]") is False
    assert found("broken[2] != broken[2]") is True


@pytest.mark.parametrize(
    "text",
    [
        "open('/etc/passwd')",
        "__import__('os')",
        "eval('1')",
        "exec('1')",
        "getattr(loss, 'values')",
        "loss.values",
        "loss.at(order=1)",
        "loss.__class__",
        "level.real",
        "().__class__.__bases__",
        "''.join(word)",
        "'{0.__class__}'.format(level)",
        "min.__globals__",
        "min.__doc__ == 'x'",
        "(lambda: 1)()",
        "lambda: 1",
        "[x for x in loss]",
        "{x for x in loss}",
        "{1: x for x in loss}",
        "sum(x for x in loss)",
        "{1, 2}",
        "{'a': 1}",
        "[1, 2]",
        "(1, 2)",
        "f'{level}'",
        "f'{loss.values}' == 'a'",
        "(x := 1)",
        "1 if level else 2",
        "mean(*loss)",
        "1 in (*loss, 1)",
        "at(loss, **best)",
        "max(**{'over': 'order'})",
        "await level",
        "(yield 1)",
        "None",
        "True",
        "...",
        "b'abc'",
        "1j",
        "level is level",
        "level is not level",
        "level @ level",
        "level // 2",
        "level % 2",
        "1 << 60",
        "1 | 2",
        "~number",
        "loss[1:4:2]",
        "loss[::]['a'].x",
        "loss[loss]",
        "loss[1, 2]",
        "loss['train']",
        "loss['train':'test']",
        "table[1]",
        "loss[1 < 2]",
        "level[1]",
        "loss[9]",
        "loss[5:9]",
        "loss[3:2]",
        "table['test':'train']",
        "min",
        "mean == 1",
        "import os",
        "a = 1",
        "1; 2",
        "",
        "(",
        "1 +",
        "level\0",
        "word + word",
        "word * 1000000",
        "'a' * 1000000",
        "-word",
        "mean(best)",
        "word < 1",
        "word == 1",
        "best == 1",
        "loss == 'a'",
        "number in ('3', 4)",
        "word in (1, 2)",
        "loss in (1, 2)",
        "number in (loss, 1)",
        "number in loss",
        "number in 3",
        "(1, 2) in (1, 2)",
        "(1, 2) == level",
        "level < (1, 2)",
        "3 in ((3, 4), 5)",
        "not loss",
        "not level",
        "loss and true",
        "level or true",
        "true and word",
        "mean(loss, order=1)",
        "mean(loss, over='order', over='order')",
        "mean(loss, value=table)",
        "mean(value=loss)",
        "abs(level, over='order')",
        "mean(loss, over='lag')",
        "mean(loss, over=1)",
        "mean(loss, over=loss)",
        "at(loss, value=1)",
        "9007199254740993",
        "1" * 400,
    ],
)
def test_invalid_expressions_are_refused(text: str) -> None:
    line = refused(text)
    assert line.startswith(single_line(text[:40]) or ":")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("los[3]", "there is no quantity 'los' (did you mean 'loss'?); allowed: loss, table,"),
        ("argmn(loss)", "there is no function 'argmn' (did you mean 'argmin'?); allowed: min,"),
        ("loss.mean()", "there is no function 'loss.mean'"),
        ("loss[9]", "axis order has no coordinate 9; allowed: 1, 2, 3, 4"),
        ("loss['a']", "axis order has no coordinate 'a'; allowed: 1, 2, 3, 4"),
        ("table['tset', 1]", "axis set has no coordinate 'tset'; allowed: train, loo, test"),
        ("curve[0.55]", "axis x has no coordinate 0.55; allowed: -1, -0.9"),
        ("loss[5:9]", "axis order has no coordinate in this slice; allowed: 1, 2, 3, 4"),
        ("mean(loss, over='ordr')", "there is no axis 'ordr'; allowed: order"),
        ("argmin(table)", "argmin requires an axis; allowed: argmin(..., over='set')"),
        ("all(loss)", "all requires a comparison; allowed: all(a < b)"),
        ("loss and true", "and / or requires comparisons; allowed: a < b and c < d"),
        ("not level", "not requires comparisons; allowed: a < b and c < d"),
        ("level[3]", "'level' is a single value without axes"),
        ("loss[1, 2]", "there are 2 labels for the axes order"),
        ("mean", "'mean' is a function; allowed: mean(...)"),
        ("mean(level)", "mean requires an array, not a single value"),
        ("mean()", "mean has invalid arguments; allowed: mean(array, over='axis')"),
        ("abs(1, 2)", "abs has invalid arguments; allowed: abs(value)"),
        ("word < 1", "text cannot be compared with numbers"),
        ("number in ('3', '4')", "text cannot be compared with numbers"),
        ("loss[1:2] < loss[2:3]", "the coordinates of axis order do not match: 1, 2 and 2, 3"),
        ("level // 2", "'level // 2' is not allowed; allowed: + - * / **"),
        ("round(loss, digits=1)", "round does not take 'digits'"),
        ("log(loss, over='order')", "log does not take 'over'"),
    ],
)
def test_a_message_names_the_problem_and_what_is_allowed(text: str, message: str) -> None:
    assert message in refused(text)


def test_an_invalid_expression_is_refused_without_an_outcome() -> None:
    """The claims of a file are checked when the file is loaded, before any run."""
    for text in ("loss.values", "argmn(loss)", "min", "[x for x in loss]", "1 +", "loss[::2]"):
        with pytest.raises(ExpressionError):
            quantity_names(text)
    assert quantity_names("min(loss[a:b]) < pi * share(x > y, over='order')") == {
        "loss",
        "a",
        "b",
        "x",
        "y",
    }


def test_huge_numbers_neither_hang_nor_wrap() -> None:
    assert found("9 ** 9 ** 9 ** 9") == np.inf
    assert found("10 ** 400") == np.inf
    assert found("9007199254740992 * 9007199254740992") == pytest.approx(2.0**106, rel=1e-15)
    assert found("-9007199254740992 - 9007199254740992") == -(2.0**54)
    assert found("1 / 0") == np.inf
    assert np.isnan(found("0 / 0"))


def test_sizes_are_bounded() -> None:
    assert "allowed: 600" in refused("1 + " * 200 + "1")
    assert f"more than {MAX_NODES} nodes" in refused("-" * 300 + "1")
    refused("(" * 250 + "1" + ")" * 250)
    refused("[" * 299 + "]" * 299)
    refused("loss" + "[1]" * 100)
    deep = "-" * 90 + "level"
    assert len(deep) < MAX_CHARS
    assert found(deep) == 2.5


def test_a_large_outer_product_is_refused_before_it_is_computed() -> None:
    wide = Outcome(
        a=axis("a", 12_000).of(np.zeros(12_000)), b=axis("b", 12_000).of(np.zeros(12_000))
    )
    for text in ("a * b", "a < b", "all(a < b)", "min(a, b)", "sum(a - b)"):
        with pytest.raises(ExpressionError, match="more than 4,000,000 elements"):
            evaluate(text, wide)
    assert evaluate("sum(a) + sum(b)", wide) == 0


@given(st.text(max_size=80))
def test_any_text_gives_a_value_or_one_error(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        evaluate(text, OUTCOME)


NOUNS = ["loss", "table", "level", "word", "1", "2.5", "'loo'", "over='order'"]
VERBS = ["min(", "all(", "argmin(", "(", ")", "[", "]", ":", ",", "."]
SIGNS = ["<", "==", "and", "not", "in", "-", "*", "**"]


@given(st.lists(st.sampled_from(NOUNS + VERBS + SIGNS), max_size=14))
def test_shuffled_tokens_give_a_value_or_one_error(words: list[str]) -> None:
    text = " ".join(words)
    try:
        value = evaluate(text, OUTCOME)
    except ExpressionError:
        return
    assert isinstance(value, Quantity | float | int | bool | str)
    assert explain(text, OUTCOME).text


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8, unique=True),
    st.data(),
)
def test_slices_are_by_coordinate(values: list[float], data: st.DataObject) -> None:
    """On any axis, in any order: the elements between two coordinates, both included."""
    coordinates = np.array(values)
    low, high = sorted(data.draw(st.sampled_from(values)) for _ in range(2))
    outcome = Outcome(y=axis("x", coordinates).of(np.arange(len(values))), low=low, high=high)
    part = evaluate("y[low:high]", outcome).values.tolist()
    inside = np.flatnonzero((coordinates >= low) & (coordinates <= high)).tolist()
    assert set(inside) <= set(part)
    slack = 1e-8 * max(1.0, abs(low), abs(high))
    near = (coordinates >= low - slack) & (coordinates <= high + slack)
    assert set(part) <= set(np.flatnonzero(near).tolist())
    assert evaluate("y[low]", outcome) == values.index(low)


def test_labels_of_an_axis_over_many_orders_of_magnitude() -> None:
    tiny = axis("tolerance", [1e-6, 1e-12, 1e-13, 1e-14]).of([1, 2, 3, 4])
    wide = axis("alpha", [1e-9, 1e-3, 1.0, 1e9]).of([1, 2, 3, 4])
    outcome = Outcome(tiny=tiny, wide=wide)
    assert [evaluate(f"tiny[{label}]", outcome) for label in (1e-12, 1e-13, 1e-14)] == [2, 3, 4]
    assert evaluate("tiny[:1e-13]", outcome).values.tolist() == [3, 4]
    assert evaluate("wide[1:]", outcome).values.tolist() == [3, 4]
    assert evaluate("wide[:1e-3]", outcome).values.tolist() == [1, 2]
    with pytest.raises(ExpressionError, match="axis alpha has no coordinate 0"):
        evaluate("wide[0]", outcome)


def test_labels_match_coordinates_up_to_rounding() -> None:
    rough = Outcome(
        y=axis("x", [0.1 + 0.2, 0.1 + 0.7]).of([1, 2]),
        steps=axis("n", np.arange(-1, 1, 0.1)).of(np.arange(20)),  # no 0, but -2e-16
    )
    assert evaluate("y[0.3] + y[0.8]", rough) == 3
    assert evaluate("y[:0.3]", rough).values.tolist() == [1]  # 0.3 is a little less
    assert evaluate("y[0.8:]", rough).values.tolist() == [2]  # 0.8 a little more
    assert evaluate("steps[0]", rough) == 10
    assert evaluate("size(steps[0:])", rough) == 10
    for text in ("y[0.3001]", "y[0.301:0.799]"):
        with pytest.raises(ExpressionError):
            evaluate(text, rough)


def test_a_duplicate_coordinate_is_not_a_valid_label() -> None:
    outcome = Outcome(y=axis("start", ["random", "random", "subspace"]).of([1.0, 2.0, 3.0]))
    with pytest.raises(ExpressionError, match="axis start has the coordinate 'random' 2 times"):
        evaluate("y['random']", outcome)
    assert evaluate("y['subspace']", outcome) == 3.0
    assert explain("all(y > 0)", outcome).text == "3 of 3; closest at start random: 1 > 0"


def test_logic_works_elementwise() -> None:
    x, y = axis("x", [1, 2, 3]), axis("y", [1, 2])
    outcome = Outcome(a=x.of([1.0, 2.0, 3.0]), b=y.of([0.0, 5.0]), yes=True)
    both = evaluate("a > 1 and b > 1", outcome)
    assert both.dims == ("x", "y")
    assert both.values.tolist() == [[False, False], [False, True], [False, True]]
    either = evaluate("a > 2 or b > 1", outcome)
    assert either.values.tolist() == [[False, True], [False, True], [True, True]]
    assert evaluate("not a > 1", outcome).values.tolist() == [True, False, False]
    assert evaluate("count(a > 1 and a < 3)", outcome) == 1
    assert evaluate("share(yes and a > 1)", outcome) == 2 / 3
    assert evaluate("all(a > 0 or b > 9) and not any(a > 9)", outcome) is True
