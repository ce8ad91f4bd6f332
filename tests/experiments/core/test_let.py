"""Named parts of expressions."""

import ast

import numpy as np
import pytest

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.expressions import evaluate, explain, quantity_names
from bythebook.experiments.core.let import check_let, expand, size_of, used_lines
from bythebook.experiments.core.outcome import Outcome, axis

OUTCOME = Outcome(
    loss=axis("order", [1, 2, 3]).of([4.0, 2.0, 1.0]),
    other=axis("order", [1, 2, 3]).of([4.5, 2.0, 0.0]),
    level=2.5,
)
LET = {
    "excess": "loss - min(loss)",
    "departure(a, b)": "max(abs(a - b))",
    "worst(q)": "departure(q, excess)",
    "unused": "level + 1",
}


@pytest.mark.parametrize(
    ("text", "in_full"),
    [
        ("max(excess)", "max(loss - min(loss))"),
        ("2 * excess", "2 * (loss - min(loss))"),  # a part keeps its brackets
        ("departure(loss, other)", "max(abs(loss - other))"),
        ("departure(loss - 1, 2 * other)", "max(abs(loss - 1 - 2 * other))"),
        ("departure(other - loss, loss - other)", "max(abs(other - loss - (loss - other)))"),
        ("worst(other)", "max(abs(other - (loss - min(loss))))"),
        ("departure(excess[1], level)", "max(abs((loss - min(loss))[1] - level))"),
        ("departure(loss, departure(loss, other))", "max(abs(loss - max(abs(loss - other))))"),
        ("min(loss)", "min(loss)"),
    ],
)
def test_names_stand_for_their_expressions(text: str, in_full: str) -> None:
    assert ast.unparse(expand(text, LET)) == in_full
    if "excess[1]" not in text:
        value, expected = evaluate(text, OUTCOME, LET), evaluate(in_full, OUTCOME)
        assert np.array_equal(np.asarray(value), np.asarray(expected))
    assert quantity_names(text, LET) == quantity_names(in_full)


def test_an_argument_is_not_captured_by_a_parameter() -> None:
    """A quantity `b` as first argument stays the quantity."""
    outcome = Outcome(a=1.0, b=10.0)
    assert evaluate("gap(b, a)", outcome, {"gap(a, b)": "a - b"}) == 9.0


def test_an_explanation_is_that_of_the_expanded_statement() -> None:
    found = explain("all(excess <= level)", OUTCOME, LET)
    assert found.text == "2 of 3; worst at order 1: 3 <= 2.5"


def test_a_claim_carries_the_lines_that_it_uses() -> None:
    assert list(used_lines(LET, "worst(loss) < 1")) == ["excess", "departure(a, b)", "worst(q)"]
    assert used_lines(LET, "max(excess)") == {"excess": "loss - min(loss)"}
    assert used_lines(LET, "level", "loss") == {}
    assert used_lines({}, "level <") == {}


@pytest.mark.parametrize(
    ("let", "text", "message"),
    [
        ({"f(a)": "f(a)"}, "f(loss)", "let: f -> f is a cycle"),
        ({"f": "g", "g": "f + 1"}, "f", "let: f -> g -> f is a cycle"),
        (LET, "departure(loss)", r"'departure\(loss\)' has the wrong arguments; allowed: depart"),
        (LET, "departure(loss, b=other)", "has the wrong arguments"),
        (LET, "departure(loss, other, c=1)", "has the wrong arguments"),
        (LET, "excess(loss)", "has the wrong arguments; allowed: excess"),
        (LET, "departure", r"'departure' requires arguments; allowed: departure\(a, b\)"),
        ({"mean": "1"}, "loss", "'mean' is a word of the language"),
        ({"f(max)": "max"}, "loss", "'max' is a word of the language"),
        ({"f(a, a)": "a"}, "loss", r"'f\(a, a\)' is not a name; allowed: name or name\(a, b\)"),
        ({"f(1)": "1"}, "loss", "is not a name"),
        ({"f()": "1"}, "loss", "is not a name"),
        ({"a.b": "1"}, "loss", "is not a name"),
        ({"f(": "1"}, "loss", "is not a name"),
        ({"f": "1", "f(a)": "a"}, "loss", "'f' is defined twice"),
        ({"f": "1", "g(f)": "f"}, "loss", "'f' is another line"),
        ({"f": "1 +"}, "loss", "invalid syntax"),
        ({"f": "loss.values"}, "f", "'loss.values' is not allowed"),
        ({"level": "3"}, "level", "let: 'level' is a quantity"),
    ],
)
def test_invalid_lines_are_refused(let: dict[str, str], text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message) as error:
        evaluate(text, OUTCOME, let)
    assert "\n" not in str(error.value)


def test_the_expanded_size_is_limited() -> None:
    two = {"f(a)": "a + a"}
    assert evaluate("f(f(f(level)))", OUTCOME, two) == 20.0
    with pytest.raises(ExpressionError, match="allowed: 200 and 4"):
        evaluate("f(f(f(f(f(f(level))))))", OUTCOME, two)
    doubling = {f"n{i}": f"n{i + 1} + n{i + 1}" for i in range(30)} | {"n30": "level"}
    with pytest.raises(ExpressionError, match="allowed: 200 and 4"):  # before 2^30 copies
        evaluate("n0", OUTCOME, doubling)
    between = {"inside(x)": "0 < x < 5"}
    assert evaluate("inside(1) and inside(2)", OUTCOME, between) is True
    with pytest.raises(ExpressionError, match="6 comparisons; allowed: 200 and 4"):
        evaluate("inside(1) and inside(2) and inside(3)", OUTCOME, between)
    long = " + ".join(["level"] * 40)  # an expression without names of `let` is not expanded
    assert evaluate(long, OUTCOME, two) == 100.0


def test_every_line_of_a_file_is_checked() -> None:
    check_let(LET, {"loss": None, "other": None})
    for let, message in [
        ({"loss": "1"}, "'loss' is a quantity of the study"),
        ({"f": "g", "g": "f"}, "cycle"),
        ({"f(a)": "a +"}, "invalid syntax"),
    ]:
        with pytest.raises(ExpressionError, match=message):
            check_let(let, {"loss": None})


def test_size() -> None:
    assert size_of(ast.parse("0 <  a <= b and not c", mode="eval").body) == (22, 2)
