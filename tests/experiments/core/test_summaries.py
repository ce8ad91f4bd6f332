"""Scalar metrics, curves and tables of an outcome."""

import numpy as np

from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.summaries import (
    MAX_CURVE_POINTS,
    MAX_TABLE_COLUMNS,
    metric_curves,
    result_tables,
    scalar_metrics,
)

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


def test_scalars_are_quantities_without_axes_and_headline_expressions() -> None:
    headline = {
        "best": "argmin(loss)",
        "undefined": "min(other)",
        "several": "loss",
        "low": "min(loss)",
    }
    assert scalar_metrics(OUTCOME, headline) == {"level": 0.5, "name": "x", "best": 2, "low": 1.0}
    assert type(scalar_metrics(OUTCOME, headline)["best"]) is int


def test_curves_are_numbers_over_integer_coordinates() -> None:
    found = metric_curves(OUTCOME)
    assert set(found) == {"loss", "chosen"}
    assert found["loss"] == ([1, 2, 3], [3.0, 1.0, 2.0])
    assert found["chosen"] == ([1, 2, 3], [0.0, 1.0, 0.0])
    for size, shown in ((MAX_CURVE_POINTS, True), (MAX_CURVE_POINTS + 1, False)):
        long = Outcome(x=axis("n", size).of(np.zeros(size)))
        assert ("x" in metric_curves(long)) is shown
    assert not metric_curves(Outcome(x=axis("n", [0.5, 1.5]).of([1, 2])))


def test_a_table_for_every_axis() -> None:
    found = result_tables(OUTCOME)
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


def test_the_longer_axis_gives_the_rows_and_the_other_the_columns_if_short() -> None:
    tall = Outcome(x=over(np.arange(6).reshape(3, 2), ORDER, SET))
    assert result_tables(tall)["order"]["x[test]"] == [1, 3, 5]
    square = over(
        np.zeros((MAX_TABLE_COLUMNS + 1, MAX_TABLE_COLUMNS + 1)),
        axis("a", MAX_TABLE_COLUMNS + 1),
        axis("b", MAX_TABLE_COLUMNS + 1),
    )
    assert result_tables(Outcome(x=square)) == {}


def test_combinations_of_short_axes_are_columns() -> None:
    three = over(np.arange(12).reshape(2, 3, 2), axis("a", 2), axis("b", 3), axis("c", ["u", "v"]))
    found = result_tables(Outcome(x=three))["b"]
    assert found["x[1, u]"] == [6, 8, 10]
    assert list(found) == ["b", "x[0, u]", "x[0, v]", "x[1, u]", "x[1, v]"]
    wide = over(np.zeros((4, 4, 4)), *(axis(n, 4) for n in "abc"))
    assert result_tables(Outcome(x=wide)) == {}
    assert result_tables(Outcome(x=over(np.zeros((0, 3)), axis("a", 0), axis("b", 3)))) == {
        "b": {"b": [0, 1, 2]}
    }
