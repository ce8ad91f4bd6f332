"""Update MLflow's absolute artifact paths after the outputs folder was moved or copied.

Otherwise the next run would be logged to the former location of the folder.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

_BUSY_TIMEOUT_S = 120  # to wait for another writer
_COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
)


def repair_artifact_paths(database: Path, artifacts: Path) -> list[str]:
    """Point a store to the artifacts next to it; one line for each former location.

    For a store without runs there are no lines.
    """
    address = f"{database.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, timeout=_BUSY_TIMEOUT_S, uri=True)) as connection:
        if not _foreign_roots(connection, artifacts):
            return []
        connection.execute("BEGIN IMMEDIATE")
        former_roots = _foreign_roots(connection, artifacts)
        for old in former_roots:
            _move(connection, old, artifacts)
        used = connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone()
        connection.commit()
    if used is None:
        return []
    return [
        f"the outputs folder was moved or copied from {Path(old).parent} to {artifacts.parent};"
        " updated MLflow's artifact paths"
        for old in former_roots
    ]


def _foreign_roots(connection: sqlite3.Connection, artifacts: Path) -> list[str]:
    """The other folders with the name of `artifacts` in the recorded paths."""
    rows = connection.execute("SELECT DISTINCT artifact_location FROM experiments").fetchall()
    return sorted(set(_artifact_roots((location for (location,) in rows if location), artifacts)))


def _artifact_roots(locations: Iterable[str], artifacts: Path) -> Iterator[str]:
    for location in locations:
        before, separator, _ = location.removeprefix("file://").rpartition(f"/{artifacts.name}/")
        old = f"{before}/{artifacts.name}"
        if not separator or not old.startswith("/") or old == str(artifacts):
            continue
        if not _is_same_folder(old, artifacts):
            yield old


def _is_same_folder(old: str, artifacts: Path) -> bool:
    """Whether both paths name the same folder, for example through a symbolic link."""
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
