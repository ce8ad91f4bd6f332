"""The table of docs/record.md has the fields of recorded runs, and no others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bythebook.experiments.config.validation import JobFactory, load_job
from bythebook.experiments.execution.runner import run_jobs

PAGE = (Path(__file__).parents[1] / "docs" / "record.md").read_text()
TYPES = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "mapping": dict,
    "list": list,
    "null": type(None),
}
RESULTS = (
    "fcml/fig-1.15",  # with a data set
    "prml/eq-10.65-10.66",  # with equations
)


class Row(NamedTuple):
    """A row of the table."""

    types: str
    optional: bool
    example: str


ROWS = {
    path: Row(types, bool(optional), example)
    for path, optional, types, example in re.findall(
        r"^\| `([\w.<>]+)`( \?)? \| ([\w ]+) \| [^|]+ \| (.*?) ?\|$", PAGE, re.MULTILINE
    )
}


@pytest.fixture
def records(outputs: Path, misbehaving: None) -> list[dict[str, Any]]:
    """What the files of some runs contain; one failed, and one has fits that did not converge."""
    ways = [
        JobFactory("misbehaving", {"study": {"way": way}}, None, None).job()
        for way in ("raise", "stop")
    ]
    jobs = [*(load_job(name) for name in RESULTS), *ways]
    folders = [run.record.folder for job in jobs for run in run_jobs([job], outputs)]
    return [json.loads((folder / "run.json").read_text()) for folder in folders]


def allowed(types: str, value: Any) -> bool:
    """Whether a value has one of the types: `text or null`, `any`."""
    names = types.split(" or ")
    kinds = {TYPES[name] for name in names if name != "any"} | (
        {int} if "number" in names else set()
    )
    return types == "any" or type(value) in kinds  # a boolean is no integer


def fields(content: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The path of each field as the table writes it, and the field's value."""
    for name, value in content.items():
        path = f"{prefix}{name}"
        if path not in ROWS and f"{prefix}<name>" in ROWS:
            path = f"{prefix}<name>"
        yield path, value
        within = any(other.startswith(f"{path}.") for other in ROWS)
        if isinstance(value, dict) and within:
            yield from fields(value, f"{path}.")


def test_every_field_is_described_and_has_the_type(records: list[dict[str, Any]]) -> None:
    for content in records:
        for path, value in fields(content):
            assert path in ROWS, path
            assert allowed(ROWS[path].types, value), (path, value)


def test_every_row_is_a_field_of_the_runs(records: list[dict[str, Any]]) -> None:
    found = [{path for path, _ in fields(content)} for content in records]
    assert len(found) == 4
    for path, row in ROWS.items():
        present = [path in one for one in found]
        if row.optional:  # of figures that a result selects, there is no example yet
            assert any(present) or path in ("printed.figures", "equations.<name>.reason"), path
        elif path.count("<name>"):
            assert any(present), path
        else:
            assert all(present), path


def test_every_example_is_json_of_the_type() -> None:
    assert len(ROWS) == len(re.findall(r"^\| `", PAGE, re.MULTILINE)), "a row cannot be read"
    for path, row in ROWS.items():
        if row.example:
            assert allowed(row.types, json.loads(row.example.strip("`"))), path
        else:
            assert row.types.startswith(("mapping", "list")), path
