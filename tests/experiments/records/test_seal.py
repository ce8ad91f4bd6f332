"""run.json: whatever is changed, torn or made up is told before it is believed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.records import seal
from experiments.records.record import Record

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
    from experiments.configuration.build import experiment_job
    from experiments.running.runner import perform_all

    (done,) = perform_all([experiment_job("fcml/fig-1.15")], tmp_path_factory.mktemp("outputs"))
    return done.record.content


def test_what_is_written_is_what_is_read(recorded: Record) -> None:
    raw = (recorded.folder / "run.json").read_bytes()
    content = json.loads(raw)
    assert len(content.pop("seal")) == 64
    assert seal.opened(raw) == content
    assert seal.stated_format(raw) == seal.FORMAT


@given(st.data())
def test_any_change_of_a_byte_is_told(written: dict[str, Any], data: st.DataObject) -> None:
    raw = bytearray(seal.sealed(written).encode())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = (raw[place] + data.draw(st.integers(1, 255))) % 256
    with pytest.raises(seal.Broken):
        seal.opened(bytes(raw))


@given(st.data())
def test_a_torn_file_is_told(written: dict[str, Any], data: st.DataObject) -> None:
    raw = seal.sealed(written).encode()
    with pytest.raises(seal.Broken):
        seal.opened(raw[: data.draw(st.integers(0, len(raw) - 1))])


@given(st.data())
def test_a_sealed_file_that_is_no_record_is_told_or_has_all_that_a_record_has(
    written: dict[str, Any], data: st.DataObject
) -> None:
    """Any field, and any part of one, may be anything."""
    content = json.loads(json.dumps(written))
    place = content
    while True:
        name = data.draw(st.sampled_from(sorted(place)))
        if isinstance(place[name], dict) and place[name] and data.draw(st.booleans()):
            place = place[name]
            continue
        if data.draw(st.booleans()):
            del place[name]
        else:
            place[name] = data.draw(junk)
        break
    try:
        found = seal.opened(seal.sealed(content).encode())
    except seal.Broken:
        return
    assert isinstance(found["science"]["knobs"], dict)
    assert all(isinstance(entry["sha256"], str) for entry in found["provenance"]["data"].values())
    assert isinstance(found["provenance"]["started"], int | float)


def test_junk_is_told(tmp_path: Path) -> None:
    for raw in (b"", b"[]", b"{}", b"\xff\xfe", b'{\n"format": 2,\n"seal": "x"\n}\n'):
        with pytest.raises(seal.Broken):
            seal.opened(raw)
    with pytest.raises(seal.Broken, match="it has no id"):
        seal.opened(seal.sealed({"format": 3}).encode())


@pytest.mark.parametrize(
    ("part", "name", "value", "told"),
    [
        ("science", "study", "../../x", "no study's name"),
        ("science", "study", "", "no study's name"),
        (None, "experiment", "../x", "no experiment's name"),
        (None, "experiment", "/etc/x", "no experiment's name"),
        ("provenance", "started", float("nan"), "provenance.started is no time"),
        ("provenance", "started", 1e300, "provenance.started is no time"),
        ("provenance", "seconds", -1, "provenance.seconds is no time"),
        ("provenance", "packages", {"numpy": 2}, "no version"),
    ],
)
def test_a_sealed_record_with_what_no_run_has_is_told(
    written: dict[str, Any], part: str | None, name: str, value: object, told: str
) -> None:
    content = json.loads(json.dumps(written))
    (content[part] if part else content)[name] = value
    with pytest.raises(seal.Broken, match=told):
        seal.opened(seal.sealed(content).encode())
