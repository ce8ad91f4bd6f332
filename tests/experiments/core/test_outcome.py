"""Outcomes: labelled arrays, restored bit for bit from JSON and npz."""

import io
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.exact_json import dumps, loads
from bythebook.experiments.core.functions import CONSTANTS, FUNCTIONS
from bythebook.experiments.core.outcome import (
    LANGUAGE_WORDS,
    MAX_INLINE_ELEMENTS,
    MAX_REPR_CHARS,
    Axis,
    Outcome,
    Quantity,
    axis,
    diff_outcomes,
    outcome,
    over,
)

LAG, GAME = axis("lag", [3, 5, 9]), axis("game", ["a", "b"])
ERRORS = over(np.arange(6).reshape(3, 2), LAG, GAME)


def recorded(outcome: Outcome) -> Outcome:
    """The outcome after a round trip as in the store: small arrays by JSON, large ones by npz."""
    content, large = outcome.to_json()
    text, stream = dumps(content), io.BytesIO()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    np.savez(stream, allow_pickle=False, **large)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as stored:
        return Outcome.from_json(loads(text), {name: stored[name] for name in stored.files})


# Axes


def test_an_axis_has_a_name_and_coordinates() -> None:
    assert axis("game", 3).values.tolist() == [0, 1, 2]
    assert axis("x", [0.5, 1]).values.dtype == np.float64
    assert axis("word", ["a", "b"]).values.dtype.kind == "U"
    assert len(LAG) == 3
    for name in ("", "a b", "3", "a-b", "_x"):
        with pytest.raises(ValueError, match="invalid axis name"):
            axis(name, 3)
    with pytest.raises(ValueError, match="invalid axis name 'value'"):
        axis("value", 3)
    with pytest.raises(ValueError, match="must be one-dimensional"):
        axis("x", [[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="axis x has type object"):
        axis("x", [None, "a"])


def test_a_coordinate_is_found_by_its_value() -> None:
    assert LAG.index_of(5) == 1
    assert LAG.index_of(5.0) == 1
    assert LAG.index_of(np.int64(9)) == 2
    assert GAME.index_of("b") == 1
    assert GAME.index_of(np.str_("b")) == 1
    assert axis("x", [0.1 + 0.2, 0.5]).index_of(0.3) == 0
    assert axis("x", [0.25, math.inf]).index_of(math.inf) == 1
    assert axis("x", np.arange(-1, 1, 0.1)).index_of(0) == 10  # which is -2e-16 there
    for entry, label in ((LAG, 4), (LAG, "5"), (LAG, True), (GAME, "c"), (GAME, 0)):
        with pytest.raises(
            LookupError, match=f"axis {entry.name} has no coordinate {label!r}; allowed: "
        ):
            entry.index_of(label)
    with pytest.raises(LookupError, match=r"has no coordinate 0\.3001"):
        axis("x", [0.3, 0.5]).index_of(0.3001)
    assert axis("yes", [False, True]).index_of(True) == 1
    with pytest.raises(LookupError):
        axis("yes", [False, True]).index_of(1)


def test_a_label_selects_the_nearest_of_close_coordinates() -> None:
    tiny = axis("tolerance", [1e-12, 1e-13, 1e-14])
    assert [tiny.index_of(label) for label in (1e-12, 1e-13, 1e-14)] == [0, 1, 2]
    close = axis("x", [1.0, 1.0 + 1e-12])
    assert [close.index_of(value) for value in close.values] == [0, 1]
    assert close.index_of(1.0 + 0.9e-12) == 1
    with pytest.raises(LookupError, match="has the coordinate 2 2 times"):
        axis("x", [1, 2, 2]).index_of(2)


def test_an_axis_is_formatted_with_twelve_coordinates() -> None:
    assert axis("n", 13).format() == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... 12"
    assert axis("n", 12).format().endswith("10, 11")
    assert axis("x", [1 / 3]).format() == "0.333333"


# Quantities


def test_parts_are_taken_by_coordinate() -> None:
    assert ERRORS.sel(lag=9).values.tolist() == [4, 5]
    assert ERRORS.sel(lag=9).dims == ("game",)
    assert ERRORS.sel(game="b").values.tolist() == [1, 3, 5]
    assert ERRORS.sel(game="b", lag=5).item == 3
    assert ERRORS.sel().values is ERRORS.values
    assert ERRORS.coord("lag").tolist() == [3, 5, 9]
    with pytest.raises(LookupError, match="no axis 'gam'; allowed: lag, game"):
        ERRORS.sel(gam="a")
    with pytest.raises(LookupError, match="allowed: none"):
        Quantity(3).coord("x")


def test_lists_and_slices_keep_the_axis() -> None:
    """As xarray does it, which is the oracle."""
    data = ERRORS.to_xarray()
    for labels in (
        {"lag": [9, 3]},
        {"lag": [9, 3], "game": "b"},
        {"game": ["b"], "lag": slice(3, 5)},
        {"lag": slice(4, None)},
        {"lag": slice(None, 8)},
        {"lag": slice(3, 9, 2)},
        {"game": slice("a", "a")},
        {"lag": slice(10, 20)},
        {"lag": np.array([5])},
    ):
        found, wanted = ERRORS.sel(**labels), data.sel(labels)
        assert found.dims == wanted.dims, labels
        assert found.values.tolist() == wanted.values.tolist(), labels
        assert [a.values.tolist() for a in found.axes] == [
            wanted[dim].values.tolist() for dim in wanted.dims
        ]
        assert ERRORS.sel(labels).values.tolist() == wanted.values.tolist()
    with pytest.raises(LookupError, match="axis lag has no coordinate 4"):
        ERRORS.sel(lag=[3, 4])
    with pytest.raises(LookupError, match=r"axis lag cannot be cut at \['a'\]"):
        ERRORS.sel(lag=slice("a", None))
    with pytest.raises(LookupError, match="axis game has no coordinate 'c'"):
        ERRORS.sel(game=slice("c", None))


def test_slices_by_decimal_coordinates_include_rounded_ends() -> None:
    x = axis("x", [0.0, 0.1 + 0.2, 0.6, 0.2])
    assert x.of([1, 2, 3, 4]).sel(x=slice(0.3, 0.6)).values.tolist() == [2, 3]
    assert x.of([1, 2, 3, 4]).sel(x=slice(0, 0.3)).values.tolist() == [1, 2, 4]


def test_shapes_and_axes_must_match() -> None:
    with pytest.raises(ValueError, match="does not match the axes"):
        LAG.of([1, 2])
    with pytest.raises(ValueError, match="does not match the axes"):
        over(np.zeros((2, 3)), LAG, GAME)  # swapped
    with pytest.raises(ValueError, match="does not match the axes"):
        Quantity([1, 2])
    with pytest.raises(ValueError, match="the axes lag, lag are not distinct"):
        over(np.eye(3), LAG, LAG)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.int8(3), 3),
        (np.uint16(3), 3),
        (np.bool_(True), True),
        ("word", "word"),
        (2, 2),
        (np.array(1.5), 1.5),
    ],
)
def test_scalars_are_plain(value: Any, plain: Any) -> None:
    found = Quantity(value).item
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize("value", [None, 1j, b"x", [None], [{}], np.datetime64("2020")])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        Quantity(value, [axis("x", 1)] if isinstance(value, list) else ())


def test_integers_do_not_overflow() -> None:
    assert Quantity(np.uint64(2**63 - 1)).item == 2**63 - 1
    with pytest.raises(TypeError, match="more than 63 bits"):
        Quantity(np.uint64(2**63))


def test_numpy_functions_use_the_values() -> None:
    assert np.sqrt(LAG.of([1.0, 4.0, 9.0])).tolist() == [1, 2, 3]
    assert np.asarray(ERRORS) is not None
    assert len(ERRORS) == 3


# Outcomes


def test_an_outcome_is_a_mapping_of_quantities() -> None:
    outcome = Outcome(errors=ERRORS, rate=0.5, name="x")
    assert list(outcome) == ["errors", "rate", "name"]
    assert len(outcome) == 3
    assert outcome["rate"].item == 0.5
    assert set(outcome.axes) == {"lag", "game"}
    with pytest.raises(KeyError):
        outcome["ratio"]
    with pytest.raises(ValueError, match="invalid quantity name"):
        Outcome(**{"a b": 1})
    with pytest.raises(ValueError, match="does not match the axes"):
        Outcome(x=[1, 2])


def test_axes_of_one_name_are_equal() -> None:
    Outcome(a=axis("n", [1, 2]).of([1, 2]), b=axis("n", [1, 2]).of([3, 4]))
    for other in (axis("n", [1, 3]), axis("n", [1])):
        with pytest.raises(ValueError, match="axis n of b conflict"):
            Outcome(a=axis("n", [1, 2]).of([1, 2]), b=other.of(np.zeros(len(other))))


def test_an_outcome_from_coordinates() -> None:
    found = outcome(
        {"lag": 3, "year": [1896.0, 1900.0]},
        loss=("lag", [1, 2, 3]),
        fit=("year lag", np.arange(6).reshape(2, 3)),
        best=3,
    )
    assert found["fit"].dims == ("year", "lag")
    assert found["fit"].sel(year=1900, lag=2).item == 5
    assert found["fit"].sel(year=slice(1898, None)).values.tolist() == [[3, 4, 5]]
    assert found["loss"].coord("lag").tolist() == [0, 1, 2]
    assert found["best"].item == 3
    assert diff_outcomes(found, recorded(found)) == []


@pytest.mark.parametrize(
    ("quantities", "message"),
    [
        ({"loss": ("lga", [1, 2, 3])}, "loss is over lga, which has no coordinates; allowed: lag"),
        ({"loss": ("lag", [1, 2])}, r"loss has the shape \(2,\); allowed: \(3,\), over lag\(3\)"),
        ({"loss": ("lag", 1)}, r"loss has the shape \(\); allowed: \(3,\)"),
        ({"loss": [1, 2, 3]}, "loss is an array; allowed: loss="),
        ({"loss": ([1, 2, 3], "lag")}, "loss is not valid"),
        ({"best": 3}, "the axis lag has coordinates, but no quantity is over it"),
        ({"mean": ("lag", [1, 2, 3])}, "invalid name 'mean': it is a word of the language"),
    ],
)
def test_an_invalid_quantity_is_refused(quantities: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        outcome({"lag": [3, 5, 9]}, **quantities)


def test_an_axis_is_not_a_word_of_the_language() -> None:
    for name in ("size", "sd", "share", "pi"):
        with pytest.raises(ValueError, match=f"invalid name '{name}'"):
            outcome({name: 2}, x=(name, [1, 2]))


def test_the_words_of_the_language_are_its_functions_and_constants() -> None:
    assert FUNCTIONS.keys() | CONSTANTS.keys() == LANGUAGE_WORDS


# Records

KINDS = st.sampled_from([np.float64, np.int64, np.bool_, np.dtype("U3")])


@given(st.data(), KINDS)
def test_any_array_is_restored_from_the_record(data: st.DataObject, kind: Any) -> None:
    shape = data.draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    text = st.text("abé \u4e2d", max_size=3) if kind == np.dtype("U3") else None
    values = data.draw(arrays(kind, shape, elements=text))
    axes = [axis(f"axis{i}", 7 + np.arange(n)) for i, n in enumerate(shape)]
    outcome = Outcome(x=over(values, *axes))
    back = recorded(outcome)
    assert not diff_outcomes(outcome, back)
    assert back["x"].values.shape == shape
    assert back["x"].values.dtype.kind == outcome["x"].values.dtype.kind
    assert back["x"].dims == outcome["x"].dims


@pytest.mark.parametrize(
    "size", [MAX_INLINE_ELEMENTS - 1, MAX_INLINE_ELEMENTS, MAX_INLINE_ELEMENTS + 1, 5000]
)
def test_small_and_large_arrays_are_restored(size: int) -> None:
    rng = np.random.default_rng(0)
    x, yes = axis("x", rng.standard_normal(size)), axis("word", [f"w{i}" for i in range(size)])
    outcome = Outcome(
        a=x.of(rng.standard_normal(size) * 10.0 ** rng.integers(-300, 300, size)),
        b=yes.of(rng.integers(0, 2, size).astype(bool)),
        c=x.of(rng.integers(-(2**62), 2**62, size)),
        word=x.of(yes.values),
        level=1 / 3,
    )
    _, large = outcome.to_json()
    assert set(large) == (
        {"a", "b", "c", "word", "axis x", "axis word"} if size > MAX_INLINE_ELEMENTS else set()
    )
    assert not diff_outcomes(outcome, recorded(outcome))


def test_special_floats_are_restored() -> None:
    odd = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, 0.1]
    n = axis("n", odd[1:4])
    outcome = Outcome(
        x=axis("m", len(odd)).of(odd),
        nan=math.nan,
        inf=-math.inf,
        zero=-0.0,
        y=n.of([1, 2, 3]),
        made=np.copysign(math.nan, -1),  # the bit pattern of inf - inf
    )
    back = recorded(outcome)
    assert not diff_outcomes(outcome, back)
    assert math.copysign(1, back["zero"].item) == -1  # type: ignore[arg-type]
    assert math.copysign(1, back["x"].values[3]) == -1
    assert back.axes["n"].values.tolist() == odd[1:4]


def test_types_are_restored() -> None:
    outcome = Outcome(a=3, b=3.0, c=True, d="3", e=axis("n", [1.0, 2.0]).of([1, 0]))
    back = recorded(outcome)
    assert [type(back[name].item) for name in "abcd"] == [int, float, bool, str]
    assert back["e"].values.dtype == np.int64
    assert back.axes["n"].values.dtype == np.float64


def test_empty_arrays_keep_their_shape() -> None:
    none = axis("none", [])
    outcome = Outcome(
        a=none.of([]), b=over(np.zeros((0, 3)), none, LAG), c=over(np.zeros((3, 0)), LAG, none)
    )
    back = recorded(outcome)
    assert back["b"].values.shape == (0, 3)
    assert back["c"].values.shape == (3, 0)
    assert not diff_outcomes(outcome, back)


def test_text_of_any_width_is_equal() -> None:
    wide = np.array(["a", "b", "other"])[:2]  # NumPy keeps the width of the longest
    outcome = Outcome(x=axis("n", 2).of(wide), y=axis("word", wide).of([1, 2]))
    assert not diff_outcomes(outcome, recorded(outcome))


def test_a_difference_of_one_bit_is_reported() -> None:
    def made(**changed: Any) -> Outcome:
        return Outcome(**{"m": 0.1, "n": 1, "x": LAG.of([1.0, 2.0, math.nan])} | changed)

    next_ = math.nextafter(2.0, 3)
    assert diff_outcomes(made(), made()) == []
    assert diff_outcomes(made(), made(m=math.nextafter(0.1, 1))) == ["m"]
    assert diff_outcomes(made(), made(m=-0.1)) == ["m"]
    assert diff_outcomes(made(), made(x=LAG.of([1.0, next_, math.nan]))) == ["x"]
    assert diff_outcomes(made(), made(x=LAG.of([1.0, math.nan, 2.0]))) == ["x"]
    assert diff_outcomes(made(), made(n=1.0)) == ["n"]  # another type
    assert diff_outcomes(made(), made(n=True)) == ["n"]
    assert diff_outcomes(made(m=0.0), made(m=-0.0)) == ["m"]
    assert diff_outcomes(made(), made(extra=1)) == ["extra"]
    assert diff_outcomes(made(extra=1), made()) == ["extra"]
    other = axis("lag", [3, 5, 8])
    assert diff_outcomes(made(), made(x=other.of([1.0, 2.0, math.nan]))) == ["axis lag"]
    renamed = axis("delay", [3, 5, 9])
    assert diff_outcomes(made(), made(x=renamed.of([1.0, 2.0, math.nan]))) == ["x"]
    assert diff_outcomes(made(x="a"), made(x="b")) == ["x"]


def test_arrays_of_different_shapes_differ() -> None:
    flat, tall = over(np.zeros((1, 2)), axis("a", 1), axis("b", 2)), np.zeros((2, 1))
    turned = Outcome(x=over(tall, axis("a", 2), axis("b", 1)))
    assert "x" in diff_outcomes(Outcome(x=flat), turned)


# pandas


def test_a_series_has_the_axes_as_index() -> None:
    series = ERRORS.to_series("errors")
    assert series.index.names == ["lag", "game"]
    assert series.loc[(9, "b")] == 5
    assert series.loc[(5, "a")] == 2
    line = LAG.of([1.0, 2.0, 3.0]).to_series()
    assert line.index.name == "lag"
    assert line.loc[9] == 3.0
    assert Quantity(4).to_series("x").tolist() == [4]


def test_quantities_of_the_same_axes_are_columns() -> None:
    outcome = Outcome(a=LAG.of([1, 2, 3]), b=LAG.of([4.0, 5.0, 6.0]), level=7.0, errors=ERRORS)
    frame = outcome.to_frame("a", "b")
    assert list(frame.columns) == ["a", "b"]
    assert frame.loc[5].tolist() == [2.0, 5.0]
    frame = outcome.to_frame()
    assert list(frame.columns) == ["quantity", "lag", "game", "value"]
    assert len(frame) == 3 + 3 + 1 + 6
    one = frame[(frame.quantity == "errors") & (frame.lag == 9) & (frame.game == "b")]
    assert one.value.tolist() == [5]
    assert frame[frame.quantity == "level"].value.tolist() == [7.0]
    assert list(Outcome().to_frame().columns) == ["quantity", "value"]


def test_to_xarray_has_the_same_values_and_meanings() -> None:
    data = DESCRIBED.to_xarray()
    assert data["errors"].dims == ("lag", "game")
    assert data["errors"].sel(lag=9, game="b").item() == 5
    assert data["errors"].attrs == {"long_name": "errors per game", "equation": "FCML 1.19"}
    assert data["lag"].attrs == {"long_name": "delay", "units": "s"}
    assert data["game"].attrs == {}
    assert data["rate"].item() == 0.5
    assert data["rate"].attrs == {"long_name": "clock rate", "units": "1/s"}
    assert ERRORS.to_xarray("errors").name == "errors"
    assert ERRORS.to_xarray().attrs == {}


# Representations

DESCRIBED = Outcome(errors=ERRORS, rate=0.5).describe(
    {
        "errors": quantity("errors per game", "lag game", equation="FCML 1.19"),
        "rate": quantity("clock rate", unit="1/s"),
    },
    {"lag": axis_of("delay", unit="s")},
)


def test_a_quantity_shows_axes_numbers_and_meaning() -> None:
    assert repr(ERRORS).splitlines() == [
        "Quantity(lag: 3, game: 2)",
        "[[0 1]",
        " [2 3]",
        " [4 5]]",
        "lag   3, 5, 9",
        "game  a, b",
    ]
    assert repr(DESCRIBED["errors"]).splitlines()[4:] == [
        "lag   3, 5, 9  delay [s]",
        "game  a, b",
        "errors per game (FCML 1.19)",
    ]
    assert repr(DESCRIBED["rate"]) == "0.5: clock rate [1/s]"
    assert repr(Quantity(3)) == "3"
    assert repr(Axis("x", [1])) == "x(1)"
    large = repr(over(np.zeros((1000, 1000)), axis("a", 1000), axis("b", 1000)))
    assert "..." in large
    assert len(large) < 300


def test_an_outcome_shows_one_line_for_each_quantity() -> None:
    assert repr(Outcome(a=1, errors=ERRORS)).splitlines() == [
        "a: 1",
        "errors(lag: 3, game: 2): 0, 1, 2, 3, ...",
    ]
    lines = repr(DESCRIBED).splitlines()
    assert lines[0] == "errors(lag: 3, game: 2): 0, 1, 2, 3, ...  errors per game (FCML 1.19)"
    long = Outcome(x=LAG.of([1, 2, 3])).describe({"x": quantity("word " * 40, "lag")}, {})
    assert len(repr(long)) == MAX_REPR_CHARS


def test_descriptions_stay_with_parts_and_do_not_change_values() -> None:
    part = DESCRIBED["errors"].sel(lag=[5, 9])
    assert part.declaration is not None
    assert part.declaration.meaning == "errors per game"
    assert part.axes[0].declaration == axis_of("delay", unit="s")
    assert diff_outcomes(DESCRIBED, Outcome(errors=ERRORS, rate=0.5)) == []
