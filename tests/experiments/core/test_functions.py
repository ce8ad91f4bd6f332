"""Functions of expressions, compared with NumPy and with values computed by hand."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from bythebook.experiments.core.alignment import ExpressionError
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.functions import FUNCTIONS, MONOTONE_RTOL, REDUCTIONS
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.models.types import AnyArray

LAG, GAME = axis("lag", [3, 5, 9]), axis("game", ["a", "b"])
TABLE = np.array([[4.0, 1.0], [2.0, 8.0], [3.0, 5.0]])
OUTCOME = Outcome(
    table=over(TABLE, LAG, GAME),
    curve=axis("x", [0.0, 0.1, 0.25, 1.0]).of([5.0, -1.0, 3.0, 3.0]),
    counts=LAG.of([2, 7, 7]),
    words=LAG.of(["p", "q", "p"]),
    truths=over(TABLE > 2.5, LAG, GAME),
    nothing=axis("none", []).of([]),
    single=axis("one", [7]).of([2.0]),
    broken=LAG.of([1.0, np.nan, 3.0]),
    level=-2.25,
)
FLOATS = st.floats(-1e6, 1e6)
TABLES = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=FLOATS)


def found(text: str, outcome: Outcome = OUTCOME) -> Any:
    value = evaluate(text, outcome)
    return value.values.tolist() if isinstance(value, Quantity) else value


def complaint(text: str, outcome: Outcome = OUTCOME) -> str:
    with pytest.raises(ExpressionError) as error:
        evaluate(text, outcome)
    return str(error.value)


def in_table(values: AnyArray) -> Outcome:
    row, column = (
        axis(name, 10 + np.arange(n)) for name, n in zip("rc", values.shape, strict=True)
    )
    return Outcome(x=over(values, row, column))


def line(*values: float) -> Outcome:
    return Outcome(x=axis("n", 10 + np.arange(len(values))).of(list(values)))


def test_every_function_has_a_usage_line() -> None:
    for name, function in FUNCTIONS.items():
        assert (function.__doc__ or "").startswith(f"{name}(")
    assert set(FUNCTIONS) >= REDUCTIONS


# Reductions over all axes, or along one.

PLAIN = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "median": np.median,
    "sd": np.std,
    "sum": np.sum,
}


@pytest.mark.parametrize("name", PLAIN)
@given(values=TABLES)
def test_reductions_are_those_of_numpy(name: str, values: AnyArray) -> None:
    outcome, plain = in_table(values), PLAIN[name]
    assert evaluate(f"{name}(x)", outcome) == plain(values)
    for index, over_ in enumerate("rc"):
        part = evaluate(f"{name}(x, over='{over_}')", outcome)
        assert np.array_equal(part.values, plain(values, axis=index))
        assert part.dims == ("rc"[1 - index],)


@given(TABLES, st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values: AnyArray, p: float) -> None:
    outcome = in_table(values)
    assert evaluate(f"quantile(x, {p!r})", outcome) == np.quantile(values, p)
    part = evaluate(f"quantile(x, {p!r}, over='c')", outcome)
    assert np.array_equal(part.values, np.quantile(values, p, axis=1))


@given(TABLES, FLOATS)
def test_booleans_are_reduced_as_in_numpy(values: AnyArray, bound: float) -> None:
    outcome, truths = in_table(values), values < bound
    words = {"share": np.mean, "count": np.sum, "all": np.all, "any": np.any}
    for name, plain in words.items():
        assert evaluate(f"{name}(x < {bound!r})", outcome) == plain(truths)
        part = evaluate(f"{name}(x < {bound!r}, over='r')", outcome)
        assert np.array_equal(part.values, plain(truths, axis=0))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("min(table)", 1.0),
        ("max(table, over='lag')", [4.0, 8.0]),
        ("max(table, over='game')", [4.0, 8.0, 5.0]),
        ("sd(counts)", math.sqrt(50 / 9)),  # divided by n
        ("median(counts)", 7.0),
        ("mean(counts)", 16 / 3),
        ("sum(counts)", 16),
        ("quantile(counts, 0.25)", 4.5),
        ("share(table > 2.5)", 4 / 6),
        ("count(table > 2.5)", 4),
        ("count(truths)", 4),
        ("share(table > 2.5, over='lag')", [2 / 3, 2 / 3]),
        ("count(table > 2.5, over='game')", [1, 1, 2]),
        ("all(table > 1)", False),
        ("all(table >= 1)", True),
        ("any(table > 8)", False),
        ("any(table >= 8)", True),
        ("all(table > 2.5, over='game')", [False, False, True]),
        ("any(table > 2.5, over='game')", [True, True, True]),
        ("size(table)", 6),
        ("size(table, over='lag')", 3),
        ("size(table, over='game')", 2),
        ("size(nothing)", 0),
        ("count(nothing > 0)", 0),
        ("sum(nothing)", 0.0),
        ("distinct(counts)", 2),
        ("distinct(words)", 2),
        ("distinct(table)", 6),
    ],
)
def test_reductions_by_hand(text: str, value: Any) -> None:
    right = pytest.approx(value, rel=1e-14) if not isinstance(value, bool) else value
    assert found(text) == right
    if not isinstance(value, list):
        assert type(found(text)) is type(value)


def test_minimum_and_maximum_of_several_values() -> None:
    assert found("min(3, level, 2)") == -2.25
    assert found("max(3, level, 2)") == 3
    assert found("max(counts, 5)") == [5, 7, 7]
    assert found("min(table, counts)") == [[2, 1], [2, 7], [3, 5]]
    assert "does not take 'over'" in complaint("max(counts, counts, over='lag')")
    assert "number is required" in complaint("max('a', 'b')")


@pytest.mark.parametrize("name", ["min", "max", "mean", "median", "sd", "sum"])
def test_nan_is_propagated(name: str) -> None:
    assert math.isnan(found(f"{name}(broken)"))
    assert found(f"{name}(broken) < 100") is False
    assert found(f"{name}(broken) > -100") is False


def test_nan_among_several() -> None:
    assert math.isnan(found("min(broken[5], 1)"))
    assert math.isnan(found("max(1, broken[5])"))


@pytest.mark.parametrize(
    "name", ["min", "max", "mean", "median", "sd", "share", "all", "any", "argmin", "argmax"]
)
def test_reductions_of_an_empty_array_are_refused(name: str) -> None:
    inner = "nothing < 1" if name in ("share", "all", "any") else "nothing"
    assert "empty" in complaint(f"{name}({inner})")


@pytest.mark.parametrize("name", ["share", "count", "all", "any"])
def test_reductions_of_booleans_require_a_comparison(name: str) -> None:
    assert f"{name} requires a comparison" in complaint(f"{name}(table)")
    assert f"{name} requires a comparison" in complaint(f"{name}(words)")
    assert "requires an array" in complaint(f"{name}(level < 0)")


@pytest.mark.parametrize("name", sorted(REDUCTIONS - {"size", "first", "last", "coordinates"}))
def test_text_is_not_reduced(name: str) -> None:
    extra = ", 0.5" if name == "quantile" else ""
    complaint(f"{name}(words{extra})")


# argmin and argmax return coordinates, not indices.


def test_the_coordinate_of_the_minimum_and_the_maximum() -> None:
    assert found("argmin(curve)") == 0.1
    assert found("argmax(curve)") == 0.0
    assert found("argmin(counts)") == 3
    assert found("argmax(counts)") == 5  # the first of equals
    assert found("argmin(table, over='lag')") == [5, 3]
    assert found("argmax(table, over='lag')") == [3, 5]
    assert found("argmin(table, over='game')") == ["b", "a", "a"]
    assert found("argmax(table[9])") == "b"
    assert found("argmax(counts > 2)") == 5  # the first coordinate for which the comparison is true
    assert "requires an axis" in complaint("argmax(table)")


@given(st.lists(FLOATS, min_size=1, max_size=9))
def test_the_coordinate_is_that_of_numpy(values: list[float]) -> None:
    outcome = line(*values)
    assert evaluate("argmin(x)", outcome) == 10 + np.argmin(values)
    assert evaluate("argmax(x)", outcome) == 10 + np.argmax(values)
    assert evaluate("x[argmax(x)] == max(x)", outcome) is True


def test_argmin_and_argmax_refuse_nan() -> None:
    assert "not defined if a value is NaN" in complaint("argmin(broken)")
    assert "not defined if a value is NaN" in complaint("argmax(broken)")


# Order along an axis.


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=6))
def test_monotone_functions_on_integers(values: list[int]) -> None:
    steps, outcome = np.diff(values), line(*values)
    assert evaluate("rises(x)", outcome) == bool((steps > 0).all())
    assert evaluate("falls(x)", outcome) == bool((steps < 0).all())
    assert evaluate("never_rises(x)", outcome) == bool((steps <= 0).all())
    assert evaluate("never_falls(x)", outcome) == bool((steps >= 0).all())


def test_weakly_monotone_functions_ignore_rounding_and_strict_ones_do_not() -> None:
    assert MONOTONE_RTOL == 1e-9
    for scale in (1e-6, 1.0, 1e6):
        for step, ignored in ((0.5 * MONOTONE_RTOL, True), (2 * MONOTONE_RTOL, False)):
            down, up = line(scale, scale * (1 - step)), line(scale * (1 - step), scale)
            assert evaluate("never_falls(x)", down) is ignored
            assert evaluate("never_rises(x)", up) is ignored
            assert evaluate("falls(x)", down) is True
            assert evaluate("rises(x)", up) is True
            assert evaluate("rises(x)", down) is False
            assert evaluate("falls(x)", up) is False


def test_the_tolerance_is_computed_for_each_line_separately() -> None:
    """A large value in another line has no effect."""
    outcome = in_table(np.array([[1e9, 1e9], [1.0, 0.9]]))
    assert found("never_falls(x, over='c')", outcome) == [True, False]
    assert found("never_falls(x, over='r')", outcome) == [False, False]
    assert found("never_rises(x, over='r')", outcome) == [True, True]


def test_infinities_do_not_widen_the_tolerance() -> None:
    """A log likelihood may begin at minus infinity and fall later."""
    assert found("never_falls(x)", line(-np.inf, 5.0, 1.0)) is False
    assert found("never_falls(x)", line(-np.inf, -np.inf, 1.0, 5.0)) is True
    assert found("rises(x)", line(-np.inf, 1.0, 5.0)) is True
    assert found("rises(x)", line(-np.inf, -np.inf, 1.0)) is False
    assert found("never_rises(x)", line(np.inf, 1.0, 2.0)) is False
    assert found("never_rises(x)", line(np.inf, np.inf, 1.0)) is True


@pytest.mark.parametrize("name", ["rises", "falls", "never_rises", "never_falls"])
def test_an_array_with_nan_is_not_monotone(name: str) -> None:
    assert found(f"{name}(broken)") is False
    assert "requires an axis" in complaint(f"{name}(table)")
    assert "at least two values" in complaint(f"{name}(single)")
    assert "requires an array" in complaint(f"{name}(level)")


def test_monotone_functions_work_along_one_axis() -> None:
    outcome = in_table(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    assert found("rises(x, over='c')", outcome) == [True, False]
    assert found("falls(x, over='c')", outcome) == [False, True]
    assert found("rises(x, over='r')", outcome) == [True, False, False]


def test_steps_have_the_coordinate_of_their_end() -> None:
    assert found("diff(counts)") == [5.0, 0.0]
    assert found("diff(counts)[5]") == 5.0
    assert "has no coordinate 3" in complaint("diff(counts)[3]")
    assert found("diff(table, over='game')[:, 'b']") == [-3.0, 6.0, 2.0]
    assert found("diff(table, over='lag')") == [[-2.0, 7.0], [1.0, -3.0]]
    assert "at least two values" in complaint("diff(single)")
    assert "requires an axis" in complaint("diff(table)")


def test_first_and_last_are_by_position() -> None:
    assert found("first(curve)") == 5.0
    assert found("last(curve)") == 3.0
    assert found("first(words)") == "p"
    assert found("last(table, over='lag')") == [3.0, 5.0]
    assert found("first(table, over='lag')") == [4.0, 1.0]
    assert found("last(table, over='game')") == [1.0, 8.0, 5.0]
    assert "requires an axis" in complaint("last(table)")
    complaint("first(nothing)")


# Parts and coordinates.


def test_parts_by_axis() -> None:
    assert found("at(table, lag=5)") == [2.0, 8.0]
    assert found("at(table, game='b')") == [1.0, 8.0, 5.0]
    assert found("at(table, game='b', lag=9)") == 5.0
    assert found("at(table, lag=9, game='b')") == 5.0
    assert "no axis 'gam'" in complaint("at(table, gam='b')")
    assert "has no coordinate 4" in complaint("at(table, lag=4)")
    assert "single value" in complaint("at(table, lag=counts)")
    assert "requires an array" in complaint("at(level, lag=3)")


def test_the_nearest_coordinate() -> None:
    assert found("near(curve, x=0.2)") == 3.0
    assert found("near(curve, x=0.17)") == -1.0
    assert found("near(curve, x=0.1)") == -1.0
    assert found("near(curve, x=50)") == 3.0
    assert found("near(table, lag=6)") == [2.0, 8.0]
    assert found("near(table, lag=8)") == [3.0, 5.0]
    assert "requires numbers as coordinates" in complaint("near(table, game='b')")
    assert "number is required" in complaint("near(curve, x='b')")
    assert "axis x has no coordinate near" in complaint("near(curve, x=0/0)")


def test_coordinates_are_an_array_along_their_axis() -> None:
    assert found("coordinates(curve)") == [0.0, 0.1, 0.25, 1.0]
    assert found("coordinates(table, over='game')") == ["a", "b"]
    assert found("all(counts > coordinates(counts))") is False
    assert found("table - coordinates(table, over='lag')") == [[1, -2], [-3, 3], [-6, -4]]
    assert "requires an axis" in complaint("coordinates(table)")


# Elementwise functions.


@pytest.mark.parametrize("name", ["abs", "log", "exp", "sqrt"])
def test_elementwise_functions(name: str) -> None:
    plain = getattr(np, name)
    assert np.array_equal(evaluate(f"{name}(table)", OUTCOME).values, plain(TABLE))
    assert evaluate(f"{name}(2.25)", OUTCOME) == plain(2.25)
    assert "number is required" in complaint(f"{name}(words)")


def test_logarithm_and_root_of_negative_numbers_are_nan() -> None:
    assert found("log(0)") == -math.inf
    assert math.isnan(found("log(level)"))
    assert math.isnan(found("sqrt(level)"))
    assert found("abs(level)") == 2.25


def test_finite() -> None:
    assert found("finite(broken)") == [True, False, True]
    assert found("finite(inf)") is False
    assert found("finite(-inf)") is False
    assert found("all(finite(table))") is True


def test_round() -> None:
    assert found("round(level)") == -2.0
    assert found("round(2.345678, 2)") == 2.35
    assert found("round(1234.5, -2)") == 1200.0
    assert found("round(table / 3, 1)[5]") == [0.7, 2.7]
    assert "digits of round must be an integer" in complaint("round(level, 1.5)")
    assert "number is required" in complaint("round(level, 'a')")


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=9).filter(
        lambda rows: all(len(set(column)) > 1 for column in zip(*rows, strict=True))
    )
)
def test_correlation_is_that_of_numpy(rows: list[tuple[int, int]]) -> None:
    a, b = (list(column) for column in zip(*rows, strict=True))
    n = axis("n", len(rows))
    outcome = Outcome(a=n.of(a), b=n.of(b))
    assert evaluate("corr(a, b)", outcome) == np.corrcoef(a, b)[0, 1]
    assert evaluate("corr(a, a)", outcome) == pytest.approx(1, rel=1e-12)
    assert evaluate("corr(a, -a)", outcome) == pytest.approx(-1, rel=1e-12)


def test_correlation_requires_the_same_axes() -> None:
    assert "same axes" in complaint("corr(counts[3:5], counts[5:9])")
    assert "same axes" in complaint("corr(counts, table)")
    assert "requires an array" in complaint("corr(counts, 3)")
    assert math.isnan(found("corr(0 * counts, counts)"))


def test_where_selects_the_values_for_which_a_comparison_is_true() -> None:
    assert found("where(counts, counts > 2)") == [7, 7]
    assert found("coordinates(where(counts, counts < 7))") == [3]  # of its own axis
    assert found("where(table, table > 2.5)") == [4.0, 8.0, 3.0, 5.0]
    assert found("mean(where(table, counts == 7))") == 4.5  # the comparison applies to a whole row
    assert found("size(where(table, counts == 7 and table < 4))") == 2
    assert "is false for every element" in complaint("where(counts, counts > 9)")
    assert "the comparison has the axis game" in complaint("where(counts, table > 2)")
    assert "where requires a comparison" in complaint("where(counts, counts)")
    assert "axis lag do not match" in complaint("where(counts[3:5], counts[5:9] > 2)")


# Agreement, standard errors, and axes with one place.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("agree(level, -2.25)", True),
        ("agree(level, -2.25 + 2e-9)", False),
        ("agree(level, -2.25 + 0.9e-9)", True),
        ("agree(level, -2, within=0.25)", True),
        ("agree(level, -2, within=0.24)", False),
        ("agree(table, table + 0.1, within=0.11)", True),
        ("agree(table['a'], 3)", False),
        ("agree(counts, 7)", False),
        ("agree(counts[5:], 7)", True),
        ("agree(table, along='lag', within=7)", True),  # game b: from 1 to 8
        ("agree(table, along='lag', within=6.9)", False),
        ("agree(table, along='game', within=5.9)", False),
        ("agree(broken, broken)", False),  # NaN agrees with nothing
        ("agree(1 / 0, inf)", True),
        ("agree(single, along='one')", True),
        ("se(counts)", math.sqrt(25 / 3 / 3)),  # 2, 7, 7: squares of 25 / 3 from n - 1
        ("se(table, over='game')", [1.5, 3.0, 1.0]),
        ("sin(level)", math.sin(-2.25)),
        ("cos(level)", math.cos(-2.25)),
    ],
)
def test_agreement_and_standard_errors(text: str, value: Any) -> None:
    text = text.replace("table['a']", "table[:, 'a']")
    assert found(text) == (pytest.approx(value) if type(value) is not bool else value)


@given(values=TABLES)
def test_the_standard_error_is_that_of_scipy(values: AnyArray) -> None:
    if min(values.shape) < 2:
        assert "at least two values" in complaint(
            "se(x, over='r') + se(x, over='c')", in_table(values)
        )
        return
    for index, over_ in enumerate("rc"):
        part = evaluate(f"se(x, over='{over_}')", in_table(values))
        assert np.allclose(part.values, stats.sem(values, axis=index), rtol=1e-12, atol=1e-12)


@given(TABLES, FLOATS)
def test_values_agree_up_to_the_largest_difference(values: AnyArray, shift: float) -> None:
    outcome = in_table(values)
    gap = float(np.abs(values + shift - values).max())
    assert evaluate(f"agree(x + {shift!r}, x, within={gap!r})", outcome) is True
    assert (
        evaluate(f"agree(x + {shift!r}, x, within={math.nextafter(gap, -1)!r})", outcome) is False
    )
    spread = float(np.ptp(values, axis=0).max())
    assert evaluate(f"agree(x, along='r', within={spread!r})", outcome) is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agree(level)", "agree requires two values or an axis; allowed: agree(x, y), agree(x, a"),
        ("agree(table, table, along='lag')", "agree requires two values or an axis"),
        ("agree(level, along='lag')", "agree requires an array"),
        ("agree(table, along='x')", "there is no axis 'x'; allowed: lag, game"),
        ("agree(words, words)", "a number is required"),
        ("agree(level, 1, within=counts)", "within requires a single value"),
        ("agree(level, 1, over='lag')", "agree does not take 'over'; allowed: agree(x, y, within"),
        ("agree(nothing, nothing)", "agree of an empty array"),
        ("se(single)", "se requires at least two values"),
        ("se(level)", "se requires an array"),
        ("sin(level, over='lag')", "sin does not take 'over'"),
    ],
)
def test_invalid_agreement_and_standard_errors(text: str, message: str) -> None:
    assert message in complaint(text)


NARROW = Outcome(
    loss=over(TABLE[None, :, :1], axis("method", ["exact"]), LAG, axis("player", ["a"])),
    two=over(TABLE[None], axis("method", ["exact"]), LAG, GAME),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("argmin(loss)", [[5]]),
        ("argmax(loss)", [[3]]),
        ("first(loss)", [[4.0]]),
        ("last(loss)", [[3.0]]),
        ("rises(loss[:, 5:])", [[True]]),
        ("falls(loss)", [[False]]),
        ("coordinates(loss)", [3, 5, 9]),
        ("argmin(loss) == 5", [[True]]),
        ("argmin(loss) in (3, 5)", True),
        ("loss[argmin(loss)]", [[2.0]]),
        ("coordinates(where(loss, loss > 2.5))", [3, 9]),
    ],
)
def test_an_axis_with_one_place_needs_no_name(text: str, value: Any) -> None:
    assert found(text, NARROW) == value


def test_two_axes_with_several_places_need_a_name() -> None:
    for name in ("argmin", "first", "rises", "diff", "coordinates"):
        assert "requires an axis" in complaint(f"{name}(two)", NARROW)
    assert found("diff(loss)", NARROW) == [[[-2.0], [1.0]]]
