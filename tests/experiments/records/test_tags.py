"""Names that people give to runs: kept beside the record, never in its place."""

from pathlib import Path

import pytest

from experiments.contract.errors import BadInput
from experiments.records import tags
from experiments.records.record import Record


def test_tags_are_added_and_the_record_stays(recorded: Record) -> None:
    before = (recorded.folder / "run.json").read_bytes()
    assert tags.read(recorded.folder) == {}
    tags.add(recorded.folder, {"paper": "figure 3"})
    tags.add(recorded.folder, {"draft": "b", "paper": "figure 4"})
    assert tags.read(recorded.folder) == {"paper": "figure 4", "draft": "b"}
    assert (recorded.folder / "run.json").read_bytes() == before
    assert not list(recorded.folder.glob(".tags*"))


@pytest.mark.parametrize("content", ["{", "[1]", '{"a": 1}', ""])
def test_a_damaged_file_has_no_tags(tmp_path: Path, content: str) -> None:
    (tmp_path / tags.FILE).write_text(content)
    assert tags.read(tmp_path) == {}


def test_names_and_values() -> None:
    assert tags.parsed(["a=1", "b_2=x=y"]) == {"a": "1", "b_2": "x=y"}
    for word in ("a", "=x", "1a=x", "a b=x", "study=x", "mlflow.user=x", "a=", f"a={'x' * 201}"):
        with pytest.raises(BadInput, match="allowed"):
            tags.parsed([word])
    with pytest.raises(BadInput, match="printable"):
        tags.parsed(["a=x\n"])
