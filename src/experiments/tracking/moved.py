"""Outputs folders that were moved or copied: MLflow keeps the places of files as absolute paths.

Without a look at them, what is logged next would be written to where the folder once was.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

_PATIENCE = 120  # seconds to wait for another writer
_COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
)


def mended(database: Path, artifacts: Path) -> list[str]:
    """Point a store to the files beside it; a line for each place that it pointed to instead.

    A store without a run has nothing to tell of.
    """
    address = f"{database.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, timeout=_PATIENCE, uri=True)) as connection:
        if not _elsewhere(connection, artifacts):
            return []
        connection.execute("BEGIN IMMEDIATE")
        places = _elsewhere(connection, artifacts)
        for old in places:
            _move(connection, old, artifacts)
        used = connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone()
        connection.commit()
    if used is None:
        return []
    return [
        f"the outputs folder was moved or copied: what MLflow has of {Path(old).parent} is looked"
        f" for and kept in {artifacts.parent} now"
        for old in places
    ]


def _elsewhere(connection: sqlite3.Connection, artifacts: Path) -> list[str]:
    """The folders of this name, but not this one, where files are said to be."""
    rows = connection.execute("SELECT DISTINCT artifact_location FROM experiments").fetchall()
    return sorted(set(_homes((place for (place,) in rows if place), artifacts)))


def _homes(places: Iterable[str], artifacts: Path) -> Iterator[str]:
    for place in places:
        before, found, _ = place.removeprefix("file://").rpartition(f"/{artifacts.name}/")
        old = f"{before}/{artifacts.name}"
        if found and old.startswith("/") and old != str(artifacts) and not _same(old, artifacts):
            yield old


def _same(old: str, artifacts: Path) -> bool:
    """Is it the same folder by another name?"""
    try:
        return Path(old).parent.samefile(artifacts.parent)
    except OSError:
        return False


def _move(connection: sqlite3.Connection, old: str, artifacts: Path) -> None:
    for table, column in _COLUMNS:
        for scheme in ("", "file://"):
            before = f"{scheme}{old}/"
            connection.execute(
                f"UPDATE {table} SET {column} = ? || substr({column}, ?)"  # noqa: S608
                f" WHERE substr({column}, 1, ?) = ?",
                [f"{scheme}{artifacts}/", len(before) + 1, len(before), before],
            )
