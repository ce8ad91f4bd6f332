"""Tables on a page: cut, and columns of figures known as such."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.report import pages, tables


def test_long_tables_are_cut_and_say_so() -> None:
    sheet = tables.sheet("long", "long.csv", {"n": list(range(tables.ROWS + 7))})
    macros = pages.environment().get_template("macros.html").make_module({"root": "", "links": {}})
    shown = str(macros.sheet(sheet, "long"))  # type: ignore[attr-defined]
    assert f"the first {tables.ROWS} of {tables.ROWS + 7} rows" in shown


@given(st.lists(st.integers(), max_size=20), st.integers(1, 10))
def test_rows_are_the_first_of_all(values: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "ROWS", most)
        found = tables.sheet("t", "t.csv", {"n": values, "square": [v * v for v in values]})
    assert found.total == len(values)
    assert found.rows == [(v, v * v) for v in values[:most]]


@pytest.mark.parametrize(
    ("column", "numeric"),
    [
        ([1, 2.5, None, math.nan], True),
        (["2.67 ± 0.67", "-1e-07", "3"], True),
        ([True, False], False),
        (["1", "one"], False),
        (["± 0.2"], False),
    ],
)
def test_a_column_of_figures_is_numbers_gaps_and_errors(column: list[Any], numeric: bool) -> None:
    assert tables.sheet("t", "t.csv", {"x": column}).numeric == [numeric]
