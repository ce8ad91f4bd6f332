"""Tags of runs, in a file next to the record."""

from pathlib import Path

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import tags
from bythebook.experiments.store.record import Record


def test_tags_are_added_and_the_record_is_unchanged(recorded: Record) -> None:
    before = (recorded.folder / "run.json").read_bytes()
    assert tags.read_tags(recorded.folder) == {}
    tags.add_tags(recorded.folder, {"paper": "figure 3"})
    tags.add_tags(recorded.folder, {"draft": "b", "paper": "figure 4"})
    assert tags.read_tags(recorded.folder) == {"paper": "figure 4", "draft": "b"}
    assert (recorded.folder / "run.json").read_bytes() == before
    assert not list(recorded.folder.glob(".tags*"))


@pytest.mark.parametrize("content", ["{", "[1]", '{"a": 1}', ""])
def test_an_invalid_file_has_no_tags(tmp_path: Path, content: str) -> None:
    (tmp_path / tags.FILE).write_text(content)
    assert tags.read_tags(tmp_path) == {}


def test_invalid_names_and_values_are_refused() -> None:
    assert tags.parse_tags(["a=1", "b_2=x=y"]) == {"a": "1", "b_2": "x=y"}
    for word in ("a", "=x", "1a=x", "a b=x", "study=x", "mlflow.user=x", "a=", f"a={'x' * 201}"):
        with pytest.raises(InputError, match="allowed"):
            tags.parse_tags([word])
    with pytest.raises(InputError, match="printable"):
        tags.parse_tags(["a=x\n"])
