"""Views of an outcome: what MLflow charts, and tables for reading."""

import numpy as np

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.views import LONGEST_CURVE, WIDEST, curves, scalars, tables

ORDER, SET = axis("order", [1, 2, 3]), axis("set", ["train", "test"])
OUTCOME = Outcome(
    loss=ORDER.of([3.0, 1.0, 2.0]),
    both=over([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], SET, ORDER),
    chosen=ORDER.of([False, True, False]),
    word=ORDER.of(["a", "b", "c"]),
    by_set=SET.of([1.0, 2.0]),
    level=0.5,
    name="x",
)


def test_scalars_are_quantities_without_axes_and_the_headline() -> None:
    headline = {"best": "argmin(loss)", "gone": "min(other)", "several": "loss", "low": "min(loss)"}
    assert scalars(OUTCOME, headline) == {"level": 0.5, "name": "x", "best": 2, "low": 1.0}
    assert type(scalars(OUTCOME, headline)["best"]) is int


def test_curves_are_numbers_over_whole_numbered_coordinates() -> None:
    found = curves(OUTCOME)
    assert set(found) == {"loss", "chosen"}
    assert found["loss"] == ([1, 2, 3], [3.0, 1.0, 2.0])
    assert found["chosen"] == ([1, 2, 3], [0.0, 1.0, 0.0])
    for size, shown in ((LONGEST_CURVE, True), (LONGEST_CURVE + 1, False)):
        long = Outcome(x=axis("n", size).of(np.zeros(size)))
        assert ("x" in curves(long)) is shown
    assert not curves(Outcome(x=axis("n", [0.5, 1.5]).of([1, 2])))


def test_a_table_for_every_axis() -> None:
    found = tables(OUTCOME)
    assert set(found) == {"order", "set"}
    assert found["order"] == {
        "order": [1, 2, 3],
        "loss": [3.0, 1.0, 2.0],
        "both[train]": [3.0, 1.0, 2.0],
        "both[test]": [6.0, 5.0, 4.0],
        "chosen": [False, True, False],
        "word": ["a", "b", "c"],
    }
    assert found["set"] == {"set": ["train", "test"], "by_set": [1.0, 2.0]}


def test_the_longer_axis_gives_the_rows_and_a_wide_one_no_columns() -> None:
    tall = Outcome(x=over(np.arange(6).reshape(3, 2), ORDER, SET))
    assert tables(tall)["order"]["x[test]"] == [1, 3, 5]
    square = over(np.zeros((WIDEST + 1, WIDEST + 1)), axis("a", WIDEST + 1), axis("b", WIDEST + 1))
    assert tables(Outcome(x=square)) == {}


def test_short_axes_besides_the_rows_are_columns_together() -> None:
    three = over(np.arange(12).reshape(2, 3, 2), axis("a", 2), axis("b", 3), axis("c", ["u", "v"]))
    found = tables(Outcome(x=three))["b"]
    assert found["x[1, u]"] == [6, 8, 10]
    assert list(found) == ["b", "x[0, u]", "x[0, v]", "x[1, u]", "x[1, v]"]
    wide = over(np.zeros((4, 4, 4)), *(axis(n, 4) for n in "abc"))
    assert tables(Outcome(x=wide)) == {}
    assert tables(Outcome(x=over(np.zeros((0, 3)), axis("a", 0), axis("b", 3)))) == {
        "b": {"b": [0, 1, 2]}
    }
