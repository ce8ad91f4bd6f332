"""Tables on a page: their first rows, and the file that has all of them."""

import re
from dataclasses import dataclass
from typing import Any

from experiments.contract.views import Table

ROWS = 500  # of a table on a page; the rest is in the file beside it


@dataclass(frozen=True)
class Sheet:
    """A table on a page: its first rows, and the file that has all of them."""

    name: str
    path: str
    table: Table
    rows: list[tuple[Any, ...]]
    total: int
    numeric: list[bool]


def sheet(name: str, path: str, table: Table) -> Sheet:
    """The part of a table that goes on a page."""
    rows = list(zip(*table.values(), strict=True))
    numeric = [all(_is_number(value) for value in values) for values in table.values()]
    return Sheet(name, path, table, rows[:ROWS], len(rows), numeric)


def _is_number(value: Any) -> bool:
    """Belongs in a column of figures: a number, one with its standard error, or a gap."""
    if isinstance(value, str):
        return re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?( ± \S+)?", value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
