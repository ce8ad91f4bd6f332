"""The tables of a sweep, against pandas and by hand."""

import math
import random
import statistics
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.sweeps.plan import SweepPlan, SweepTable
from bythebook.experiments.sweeps.tables import (
    MAX_METRICS,
    cells_frame,
    format_mean_se,
    means_frame,
    parse_value,
)

metrics = st.dictionaries(
    st.sampled_from("abcde"), st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9)
)


@given(st.lists(metrics, min_size=1, max_size=6), st.randoms())
def test_the_table_of_runs_equals_that_of_pandas(
    cells: list[dict[str, Any]], chance: random.Random
) -> None:
    """For any order of the runs, with missing values and the types of columns."""
    plan = SweepPlan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(len(cells))]})
    rows = SweepTable(len(cells))
    order = list(range(len(cells)))
    chance.shuffle(order)
    for index in order:
        rows.set_row(index, f"run{index}", cells[index])
    fixed = {"status": "finished", "error": ""}
    expected = pd.DataFrame(
        [{"seed": i, "run": f"run{i}", **fixed, **cell} for i, cell in enumerate(cells)]
    )
    found = cells_frame(plan, rows)
    assert list(found.columns) == list(expected.columns)
    for name in expected:
        kinds = {type(cell[name]) for cell in cells if name in cell}
        if kinds <= {bool} or kinds <= {int}:
            assert found[name].dtype == expected[name].dtype
        for left, right in zip(found[name], expected[name], strict=True):
            assert left == right or (pd.isna(left) and pd.isna(right))


def test_a_table_has_the_most_common_of_many_metrics() -> None:
    """For a study that names its metrics after swept values."""
    cells = MAX_METRICS + 5
    plan = SweepPlan("sweep-x", "a", "a", [], None, {"seed": [str(i) for i in range(cells)]})
    rows = SweepTable(cells)
    for i in range(cells):
        rows.set_row(i, "r", {f"loss at {i}": 1.0, "loss": 2.0})
    table = cells_frame(plan, rows)
    assert len(rows.names()) == cells + 1
    assert "loss" in table
    assert len(table.columns) == MAX_METRICS + len(["seed", "run", "status", "error"])


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5), min_size=1, max_size=4))
def test_means_and_standard_errors_over_seeds(groups: list[list[float]]) -> None:
    cells = [(str(k), str(s)) for k, values in enumerate(groups) for s in range(len(values))]
    swept = {"study.k": [k for k, _ in cells], "seed": [s for _, s in cells]}
    plan, rows = SweepPlan("sweep-x", "a", "a", [], None, swept), SweepTable(len(cells))
    for index, value in enumerate(value for values in groups for value in values):
        rows.set_row(index, "r", {"loss": value})
    pivot = means_frame(plan, cells_frame(plan, rows))
    assert list(pivot["runs"]) == [len(values) for values in groups]
    means = [statistics.fmean(values) for values in groups]
    errors = [statistics.stdev(values) / math.sqrt(len(values)) for values in groups]
    assert list(pivot["loss mean"]) == pytest.approx(means, rel=1e-9, abs=1e-9)
    assert list(pivot["loss s.e."]) == pytest.approx(errors, rel=1e-6, abs=1e-9)


def test_a_failed_run_is_in_the_table_and_not_in_the_means() -> None:
    plan = SweepPlan("sweep-x", "a", "a", [], None, {"seed": ["0", "1"]})
    rows = SweepTable(2)
    rows.set_row(0, "r0", {"loss": 4.0})
    rows.set_row(1, "r1", {})
    rows.errors[1] = "ArithmeticError: level 1: x"
    table = cells_frame(plan, rows)
    assert list(table["status"]) == ["finished", "failed"]
    assert list(table["error"]) == ["", "ArithmeticError"]
    pivot = means_frame(plan, table)
    assert (list(pivot["runs"]), list(pivot["loss mean"])) == ([1], [4.0])


@given(st.integers() | st.floats(allow_nan=False) | st.sampled_from(["a", "[1,2]", "1.x", ""]))
def test_a_swept_value_is_parsed_to_its_type(value: Any) -> None:
    found = parse_value(str(value))
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
def test_means_are_rounded_to_the_digits_of_their_errors(mean: Any, error: Any, words: str) -> None:
    assert format_mean_se(mean, error) == words
