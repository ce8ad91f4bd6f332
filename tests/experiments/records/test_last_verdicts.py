"""Counts of verdicts: remembered, and judged again when what they hang on has changed."""

from collections import Counter
from pathlib import Path

import pytest

from experiments.configuration.build import experiment_job
from experiments.records import last_verdicts as remembered
from experiments.records.last_verdicts import FILE, last_verdicts
from experiments.records.record import Record
from experiments.running.runner import perform_all

NAME = "fcml/fig-1.15"


def test_counts_are_those_of_the_newest_run(outputs: Path, recorded: Record) -> None:
    counts = Counter(verdict["verdict"] for verdict in recorded.verdicts)
    assert last_verdicts(outputs, [NAME, "fcml/fig-1.5"]) == {NAME: counts, "fcml/fig-1.5": None}


def test_what_is_remembered_is_not_judged_again(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = last_verdicts(outputs, [NAME])
    monkeypatch.setattr(remembered, "_judged", lambda *_: pytest.fail("judged again"))
    assert last_verdicts(outputs, [NAME]) == found


def changed_file(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    monkeypatch.setattr(remembered, "_checksum", lambda _: 0)


def changed_run(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    assert list(perform_all([experiment_job(NAME)], outputs, fresh=True))


def damaged_memory(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> None:
    (outputs / FILE).write_text("{")


@pytest.mark.parametrize("change", [changed_file, changed_run, damaged_memory])
def test_another_file_run_or_memory_is_judged(
    outputs: Path,
    recorded: Record,
    monkeypatch: pytest.MonkeyPatch,
    change: object,
) -> None:
    found = last_verdicts(outputs, [NAME])
    change(monkeypatch, outputs)  # type: ignore[operator]
    asked: list[str] = []
    judge = remembered._judged
    monkeypatch.setattr(
        remembered, "_judged", lambda place, name: (asked.append(name), judge(place, name))[1]
    )
    assert last_verdicts(outputs, [NAME]) == found
    assert asked == [NAME]


def test_the_judges_and_the_file_are_what_verdicts_hang_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = remembered._checksum(NAME)
    monkeypatch.setattr(remembered, "_judges", lambda: 1)
    assert remembered._checksum(NAME) != before
    monkeypatch.undo()
    file = tmp_path / "experiment" / f"{NAME}.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("another")
    monkeypatch.setattr(remembered.catalogue, "ROOT", tmp_path)
    assert remembered._checksum(NAME) != before


def test_a_folder_that_cannot_be_written_is_listed_all_the_same(
    outputs: Path, recorded: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert last_verdicts(outputs, [NAME])[NAME]
