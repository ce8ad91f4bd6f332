"""Tables on a page, with the first rows and a link to the complete file."""

import re
from dataclasses import dataclass
from typing import Any

from bythebook.experiments.core.summaries import Table

MAX_ROWS = 500  # of a table on a page; the linked file has all rows


@dataclass(frozen=True)
class TablePage:
    """A table on a page: its first rows, and the path of the complete file."""

    name: str
    path: str
    table: Table
    rows: list[tuple[Any, ...]]
    total: int
    numeric: list[bool]


def table_page(name: str, path: str, table: Table) -> TablePage:
    """The first rows of a table, and which of its columns are numeric."""
    rows = list(zip(*table.values(), strict=True))
    numeric = [all(_is_number(value) for value in values) for values in table.values()]
    return TablePage(name, path, table, rows[:MAX_ROWS], len(rows), numeric)


def _is_number(value: Any) -> bool:
    """True for a number, a number with its standard error, or a missing value."""
    if isinstance(value, str):
        return re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?( ± \S+)?", value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
