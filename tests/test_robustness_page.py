"""docs/robustness.md, the last run with other seeds: no claim's verdict is decided by the seed."""

import re
from pathlib import Path

from bythebook.experiments.config import catalogue
from bythebook.experiments.sweeps.robustness import is_fragile

PAGE = (Path(__file__).parents[1] / "docs" / "robustness.md").read_text()
ROWS = re.findall(r"^\| `([^`]+)`: (.+?) \| (\d+) of (\d+) seeds \| (\w+) \|$", PAGE, re.MULTILINE)


def test_every_row_is_read() -> None:
    assert len(ROWS) == PAGE.count("\n| `") > 0
    assert {name for name, *_ in ROWS} <= set(catalogue.experiment_names())


def test_no_claim_is_fragile() -> None:
    """A verdict that another seed would turn is decided by more repetitions."""
    assert [row for row in ROWS if is_fragile([int(row[2]), int(row[3])])] == []
