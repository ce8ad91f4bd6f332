"""Which records a store has heard of: all that are there, also those of others, and few more."""

import sqlite3
from pathlib import Path

import pytest

from experiments.tracking import ids
from experiments.tracking.ids import TAG, Seen, seen_in


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT)")
    db.close()
    return path


def put(path: Path, names: list[str]) -> None:
    with sqlite3.connect(path) as db:
        rows = [(key, name, name) for name in names for key in (TAG, "other")]
        db.executemany("INSERT INTO tags VALUES (?, ?, ?)", rows)
    db.close()


@pytest.mark.parametrize("recent", [0, 3, 10**6])
def test_what_is_there_is_known_and_nothing_else(
    database: Path, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(ids, "_RECENT", recent)
    monkeypatch.setattr(ids, "_AT_ONCE", 2)
    names = [f"{number:016x}-1" for number in range(20)]
    db = sqlite3.connect(database)
    seen = Seen()
    assert seen.read(db).among(names) == []
    for start in range(0, 10, 2):
        put(database, names[start : start + 2])  # by somebody else
        assert seen.read(db).among(names) == names[: start + 2]
    db.close()


def test_runs_that_somebody_removes_are_forgotten(database: Path) -> None:
    put(database, ["a-1", "b-1"])
    db = sqlite3.connect(database)
    seen = Seen()
    assert seen.read(db).among(["a-1", "b-1"]) == ["a-1", "b-1"]
    db.execute("DELETE FROM tags WHERE value = 'b-1'")
    assert seen.read(db).among(["a-1", "b-1"]) == ["a-1"]
    db.close()


def test_a_process_reads_a_store_once_and_another_store_anew(database: Path) -> None:
    db = sqlite3.connect(database)
    first = seen_in(database, db)
    assert seen_in(database, db) is first
    db.close()
    database.rename(database.with_suffix(".old"))
    other = sqlite3.connect(database)
    other.execute("CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT)")
    assert seen_in(database, other) is not first
    other.close()
