"""run.json: changed, truncated and foreign files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.store import run_json
from bythebook.experiments.store.record import Record

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The content of a real record."""
    from bythebook.experiments.config.validation import load_job
    from bythebook.experiments.execution.runner import run_jobs

    (done,) = run_jobs([load_job("fcml/fig-1.15")], tmp_path_factory.mktemp("outputs"))
    return done.record.content


def test_a_record_is_read_as_it_was_written(recorded: Record) -> None:
    raw = (recorded.folder / "run.json").read_bytes()
    content = json.loads(raw)
    assert len(content.pop("seal")) == 64
    assert run_json.verify_and_parse(raw) == content
    assert run_json.read_format_version(raw) == run_json.FORMAT_VERSION


@given(st.data())
def test_a_change_of_any_byte_is_refused(written: dict[str, Any], data: st.DataObject) -> None:
    raw = bytearray(run_json.add_checksum(written).encode())
    index = data.draw(st.integers(0, len(raw) - 1))
    raw[index] = (raw[index] + data.draw(st.integers(1, 255))) % 256
    with pytest.raises(run_json.InvalidRecordError):
        run_json.verify_and_parse(bytes(raw))


@given(st.data())
def test_a_truncated_file_is_refused(written: dict[str, Any], data: st.DataObject) -> None:
    raw = run_json.add_checksum(written).encode()
    with pytest.raises(run_json.InvalidRecordError):
        run_json.verify_and_parse(raw[: data.draw(st.integers(0, len(raw) - 1))])


@given(st.data())
def test_a_file_with_a_valid_checksum_is_refused_or_has_all_fields(
    written: dict[str, Any], data: st.DataObject
) -> None:
    """Any field, and any part of one, is removed or replaced."""
    content = json.loads(json.dumps(written))
    part = content
    while True:
        name = data.draw(st.sampled_from(sorted(part)))
        if isinstance(part[name], dict) and part[name] and data.draw(st.booleans()):
            part = part[name]
            continue
        if data.draw(st.booleans()):
            del part[name]
        else:
            part[name] = data.draw(junk)
        break
    try:
        found = run_json.verify_and_parse(run_json.add_checksum(content).encode())
    except run_json.InvalidRecordError:
        return
    assert isinstance(found["science"]["knobs"], dict)
    assert all(isinstance(entry["sha256"], str) for entry in found["provenance"]["data"].values())
    assert isinstance(found["provenance"]["started"], int | float)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for raw in (b"", b"[]", b"{}", b"\xff\xfe", b'{\n"format": 2,\n"seal": "x"\n}\n'):
        with pytest.raises(run_json.InvalidRecordError):
            run_json.verify_and_parse(raw)
    with pytest.raises(run_json.InvalidRecordError, match="the field id is missing"):
        run_json.verify_and_parse(run_json.add_checksum({"format": 3}).encode())


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("science", "study", "../../x", "not a valid name of a study"),
        ("science", "study", "", "not a valid name of a study"),
        (None, "experiment", "../x", "not a valid name of an experiment"),
        (None, "experiment", "/etc/x", "not a valid name of an experiment"),
        ("provenance", "started", float("nan"), "provenance.started is not a valid time"),
        ("provenance", "started", 1e300, "provenance.started is not a valid time"),
        ("provenance", "seconds", -1, "provenance.seconds is not a valid time"),
        ("provenance", "packages", {"numpy": 2}, "invalid version"),
    ],
)
def test_a_record_with_an_invalid_value_is_refused(
    written: dict[str, Any], part: str | None, name: str, value: object, message: str
) -> None:
    content = json.loads(json.dumps(written))
    (content[part] if part else content)[name] = value
    with pytest.raises(run_json.InvalidRecordError, match=message):
        run_json.verify_and_parse(run_json.add_checksum(content).encode())
