"""Tables on a page: maximum length and numeric columns."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.report import pages, tables


def test_long_tables_are_shortened_with_a_note() -> None:
    page = tables.table_page("long", "long.csv", {"n": list(range(tables.MAX_ROWS + 7))})
    macros = pages.environment().get_template("macros.html").make_module({"root": "", "links": {}})
    shown = str(macros.table_page(page, "long"))  # type: ignore[attr-defined]
    assert f"the first {tables.MAX_ROWS} of {tables.MAX_ROWS + 7} rows" in shown


@given(st.lists(st.integers(), max_size=20), st.integers(1, 10))
def test_the_first_rows_are_shown(values: list[int], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MAX_ROWS", limit)
        page = tables.table_page("t", "t.csv", {"n": values, "square": [v * v for v in values]})
    assert page.total == len(values)
    assert page.rows == [(v, v * v) for v in values[:limit]]


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
def test_numeric_columns(column: list[Any], numeric: bool) -> None:
    assert tables.table_page("t", "t.csv", {"x": column}).numeric == [numeric]
