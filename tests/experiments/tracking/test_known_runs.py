"""The index of logged runs: all runs in the database, also those of other processes."""

import sqlite3
from pathlib import Path

import pytest

from bythebook.experiments.tracking import known_runs
from bythebook.experiments.tracking.known_runs import RUN_ID_TAG, KnownRunIds, known_run_ids


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT)")
    db.close()
    return path


def insert(path: Path, names: list[str]) -> None:
    with sqlite3.connect(path) as db:
        rows = [(key, name, name) for name in names for key in (RUN_ID_TAG, "other")]
        db.executemany("INSERT INTO tags VALUES (?, ?, ?)", rows)
    db.close()


@pytest.mark.parametrize("recent", [0, 3, 10**6])
def test_the_index_contains_exactly_the_runs_in_the_database(
    database: Path, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(known_runs, "_MAX_RECENT", recent)
    monkeypatch.setattr(known_runs, "_BATCH_SIZE", 2)
    names = [f"{number:016x}-1" for number in range(20)]
    db = sqlite3.connect(database)
    index = KnownRunIds()
    assert index.read(db).find_logged(names) == []
    for start in range(0, 10, 2):
        insert(database, names[start : start + 2])  # by another process
        assert index.read(db).find_logged(names) == names[: start + 2]
    db.close()


def test_removed_runs_are_dropped(database: Path) -> None:
    insert(database, ["a-1", "b-1"])
    db = sqlite3.connect(database)
    index = KnownRunIds()
    assert index.read(db).find_logged(["a-1", "b-1"]) == ["a-1", "b-1"]
    db.execute("DELETE FROM tags WHERE value = 'b-1'")
    assert index.read(db).find_logged(["a-1", "b-1"]) == ["a-1"]
    db.close()


def test_each_database_has_an_index_of_its_own(database: Path) -> None:
    db = sqlite3.connect(database)
    first = known_run_ids(database, db)
    assert known_run_ids(database, db) is first
    db.close()
    database.rename(database.with_suffix(".old"))
    other = sqlite3.connect(database)
    other.execute("CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT)")
    assert known_run_ids(database, other) is not first
    other.close()
