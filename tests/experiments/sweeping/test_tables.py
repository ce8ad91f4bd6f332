"""The tables of a sweep, against pandas and by hand."""

import math
import random
import statistics
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.sweeping.plan import Plan, Rows
from experiments.sweeping.tables import (
    WIDEST,
    long_table,
    mean_and_error,
    number_or_text,
    pivot_table,
)

metrics = st.dictionaries(
    st.sampled_from("abcde"), st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
)


@given(st.lists(metrics, min_size=1, max_size=6), st.randoms())
def test_the_long_table_is_that_of_pandas(
    cells: list[dict[str, Any]], chance: random.Random
) -> None:
    """Whatever the order in which cells are done; gaps and the types of columns included."""
    plan = Plan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(len(cells))]})
    rows = Rows(len(cells))
    order = list(range(len(cells)))
    chance.shuffle(order)
    for index in order:
        rows.put(index, f"run{index}", cells[index])
    fixed = {"status": "finished", "error": ""}
    expected = pd.DataFrame(
        [{"seed": i, "run": f"run{i}", **fixed, **cell} for i, cell in enumerate(cells)]
    )
    found = long_table(plan, rows)
    assert list(found.columns) == list(expected.columns)
    for name in expected:
        kinds = {type(cell[name]) for cell in cells if name in cell}
        if kinds <= {bool} or kinds <= {int}:
            assert found[name].dtype == expected[name].dtype
        for ours, theirs in zip(found[name], expected[name], strict=True):
            assert ours == theirs or (pd.isna(ours) and pd.isna(theirs))


def test_of_very_many_metrics_the_common_ones_are_tabulated() -> None:
    """As when a study names its metrics after what is swept."""
    cells = WIDEST + 5
    plan = Plan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(cells)]})
    rows = Rows(cells)
    for i in range(cells):
        rows.put(i, "r", {f"loss at {i}": 1.0, "loss": 2.0})
    table = long_table(plan, rows)
    assert len(rows.names()) == cells + 1
    assert "loss" in table
    assert len(table.columns) == WIDEST + len(["seed", "run", "status", "error"])


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5), min_size=1, max_size=4))
def test_means_and_standard_errors_over_seeds(groups: list[list[float]]) -> None:
    cells = [(str(k), str(s)) for k, values in enumerate(groups) for s in range(len(values))]
    swept = {"study.k": [k for k, _ in cells], "seed": [s for _, s in cells]}
    plan, rows = Plan("sweep-x", "a", "a", [], None, swept), Rows(len(cells))
    for index, value in enumerate(value for values in groups for value in values):
        rows.put(index, "r", {"loss": value})
    pivot = pivot_table(plan, long_table(plan, rows))
    assert list(pivot["runs"]) == [len(values) for values in groups]
    means = [statistics.fmean(values) for values in groups]
    errors = [statistics.stdev(values) / math.sqrt(len(values)) for values in groups]
    assert list(pivot["loss mean"]) == pytest.approx(means, rel=1e-9, abs=1e-9)
    assert list(pivot["loss s.e."]) == pytest.approx(errors, rel=1e-6, abs=1e-9)


def test_a_failed_cell_is_in_the_table_and_in_no_mean() -> None:
    plan = Plan("sweep-x", "a", "a", [], None, {"seed": ["0", "1"]})
    rows = Rows(2)
    rows.put(0, "r0", {"loss": 4.0})
    rows.put(1, "r1", {})
    rows.errors[1] = "ArithmeticError: level 1: x"
    table = long_table(plan, rows)
    assert list(table["status"]) == ["finished", "failed"]
    assert list(table["error"]) == ["", "ArithmeticError"]
    pivot = pivot_table(plan, table)
    assert (list(pivot["runs"]), list(pivot["loss mean"])) == ([1], [4.0])


@given(st.integers() | st.floats(allow_nan=False) | st.sampled_from(["a", "[1,2]", "1.x", ""]))
def test_a_swept_value_is_what_it_was(value: Any) -> None:
    found = number_or_text(str(value))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        (2.66667, 0.6667, "2.67 ± 0.67"),
        (296.7, 290.4, "297 ± 290"),
        (0.0666993, 0.00321, "0.0667 ± 0.0032"),
        (3.0, 0.0, "3"),
        (1 / 3, None, "0.333333"),
        (1e9, 2.5e-12, "1e+09 ± 2.5e-12"),
        (None, None, None),
        (float("inf"), 1.0, "inf"),
    ],
)
def test_means_have_the_digits_that_their_errors_leave(mean: Any, error: Any, words: str) -> None:
    assert mean_and_error(mean, error) == words
