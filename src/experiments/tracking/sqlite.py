"""The fast way into a local MLflow store: its own tables, one transaction for many runs.

Importing MLflow takes two seconds and its client some 40 ms a run; a row takes microseconds. This
path is taken only for a SQLite file whose schema version is one it was tested with; for any other
the caller uses MLflow's client. What it writes reads back the same (a test compares the two).
"""

import math
import secrets
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.configuration.paths import stays_in
from experiments.contract.slugs import slug
from experiments.tracking import ids

if TYPE_CHECKING:
    from experiments.tracking.runs import Payload

SCHEMAS = {"dc11669786a5"}  # MLflow 3.17
_TAG = ids.TAG
_OWN_ID = "{mlflow-run-id}"  # stands in a tag for the run's own id
_LARGEST = 1.7976931348623157e308  # MLflow clamps infinities to the largest double
_PATIENCE = 120  # seconds to wait for another writer


def understands(database: Path) -> bool:
    """Is the schema of this file one that the statements below were written for?"""
    address = f"{database.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, timeout=_PATIENCE, uri=True)) as connection:
            rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error:
        return False
    return len(rows) == 1 and rows[0][0] in SCHEMAS


def tagged(database: Path, tag: str, value: str | None = None) -> dict[str, str]:
    """The value of a tag for each record that is in the store, whole, and carries it (so)."""
    sql = (
        "SELECT records.value, tags.value FROM tags JOIN tags AS records"
        " ON records.run_uuid = tags.run_uuid AND records.key = ?"
        " JOIN runs ON runs.run_uuid = tags.run_uuid JOIN experiments USING (experiment_id)"
        " WHERE tags.key = ? AND status != 'RUNNING'"
        " AND runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active'"
    )
    wanted = [_TAG, tag]
    if value is not None:
        sql, wanted = f"{sql} AND tags.value = ?", [*wanted, value]
    with closing(sqlite3.connect(database, timeout=_PATIENCE)) as connection:
        return dict(connection.execute(sql, wanted).fetchall())


def among(database: Path, record_ids: Sequence[str], tag: str) -> dict[str, str]:
    """Those of these records that are in the store, whole, each with its tag or none."""
    sql = "SELECT value FROM tags WHERE key = ? AND run_uuid = ?"
    found = {}
    with closing(sqlite3.connect(database, timeout=_PATIENCE)) as connection:
        known = _known(connection, ids.seen_in(database, connection).among(record_ids))
        for record_id, (run_id, status) in known.items():
            if status != "RUNNING":
                row = connection.execute(sql, [tag, run_id]).fetchone()
                found[record_id] = str(row[0]) if row else ""
    return found


def experiments(database: Path) -> dict[str, dict[str, str]]:
    """The tags of every experiment, by its name."""
    sql = "SELECT name, key, value FROM experiments LEFT JOIN experiment_tags USING (experiment_id)"
    found: dict[str, dict[str, str]] = {}
    with closing(sqlite3.connect(database, timeout=_PATIENCE)) as connection:
        for name, key, value in connection.execute(f"{sql} WHERE lifecycle_stage = 'active'"):
            tags = found.setdefault(name, {})
            if key is not None:
                tags[key] = value
    return found


def describe(database: Path, tags: Mapping[str, Mapping[str, str]]) -> None:
    """Set tags of experiments that are in the store."""
    sql = (
        "INSERT OR REPLACE INTO experiment_tags (key, value, experiment_id)"
        " SELECT ?, ?, experiment_id FROM experiments WHERE name = ? AND workspace = 'default'"
    )
    rows = [(key, value, name) for name, values in tags.items() for key, value in values.items()]
    with _transaction(database) as db:
        db.executemany(sql, rows)


def revived(database: Path, names: Collection[str]) -> list[str]:
    """Which of these experiments were deleted; they are there again, with the runs they had.

    As MLflow itself restores one, but for runs that had been deleted before it.
    """
    with closing(sqlite3.connect(database, timeout=_PATIENCE)) as connection:
        if not _deleted(connection, names):
            return []
    with _transaction(database) as db:
        gone = _deleted(db, names)
        for number, _ in gone:
            db.execute(
                "UPDATE runs SET lifecycle_stage = 'active', deleted_time = NULL"
                " WHERE experiment_id = ? AND deleted_time >="
                " (SELECT last_update_time FROM experiments WHERE experiment_id = ?)",
                [number, number],
            )
            db.execute(
                "UPDATE experiments SET lifecycle_stage = 'active', last_update_time = ?"
                " WHERE experiment_id = ?",
                [int(1000 * time.time()), number],
            )
    return [name for _, name in gone]


def _deleted(db: sqlite3.Connection, names: Collection[str]) -> list[tuple[int, str]]:
    sql = "SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'deleted'"
    rows = db.execute(f"{sql} AND workspace = 'default'")
    return [(number, name) for number, name in rows if name in names]


def put(database: Path, artifacts: Path, payloads: Sequence["Payload"]) -> dict[str, str]:
    """Log what is not there yet. The write lock makes look and write one step for all processes."""
    logged: dict[str, str] = {}
    with _transaction(database) as db, _cleared() as new:
        seen = ids.seen_in(database, db)
        known = _known(db, seen.among([payload.record_id for payload in payloads]))
        homes: dict[str, tuple[int, Path]] = {}  # number and place of the experiments
        fresh, filled = [], []
        for payload in payloads:
            found = known.get(payload.record_id)
            if found and found[1] != "RUNNING" and not payload.update:
                logged[payload.record_id] = found[0]
                continue
            name, run_id = payload.experiment, found[0] if found else _run_id()
            if name not in homes:
                home = artifacts / slug(name)
                homes[name] = _experiment(db, name, home), home
            number, home = homes[name]
            if payload.artifacts:
                place = home / run_id / "artifacts"
                if not found:
                    new.append(place.parent)
                _copy(payload.artifacts, stays_in(artifacts.parent, place))
            if not found:
                fresh.append(_run_row(run_id, number, f"{home}/{run_id}/artifacts", payload))
            filled.append((run_id, payload))
            logged[payload.record_id] = run_id
        db.executemany(_RUN, fresh)
        _fill(db, filled)
    return logged


@contextmanager
def _cleared() -> Iterator[list[Path]]:
    """Folders to remove if what they belong to comes to nothing."""
    folders: list[Path] = []
    try:
        yield folders
    except BaseException:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _transaction(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, timeout=_PATIENCE, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _run_id() -> str:
    """A random id as MLflow has it, but beginning with the time (a UUID of version 7).

    Ids without order would put every row on another page, and a store of ten thousand runs would
    take four times as long to fill.
    """
    stamp, chance = time.time_ns() // 1_000_000, secrets.randbits(74)
    return f"{stamp << 80 | 7 << 76 | chance >> 62 << 64 | 2 << 62 | chance % 2**62:032x}"


def _known(
    db: sqlite3.Connection, wanted: Sequence[str] | None = None
) -> dict[str, tuple[str, str]]:
    """Run id and status of the records in the store, or of these; one scan beats many searches."""
    sql = (
        "SELECT tags.value, run_uuid, status FROM tags JOIN runs USING (run_uuid)"
        " JOIN experiments USING (experiment_id) WHERE tags.key = ?"
        " AND runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active'"
    )
    if wanted is not None and not wanted:
        return {}
    if wanted is not None:
        sql += f" AND tags.value IN ({', '.join('?' * len(wanted))})"
    rows = db.execute(sql, [_TAG, *(wanted or ())])
    return {record_id: (run_id, status) for record_id, run_id, status in rows}


def _experiment(db: sqlite3.Connection, name: str, home: Path) -> int:
    sql = "SELECT experiment_id FROM experiments WHERE name = ? AND workspace = 'default'"
    row = db.execute(sql, [name]).fetchone()
    if row is None:
        stamp = int(1000 * time.time())
        db.execute(
            "INSERT INTO experiments (name, artifact_location, lifecycle_stage, creation_time,"
            " last_update_time, workspace) VALUES (?, ?, 'active', ?, ?, 'default')",
            [name, str(home), stamp, stamp],
        )
        row = db.execute(sql, [name]).fetchone()
    return int(row[0])


_RUN = (
    "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id,"
    " status, start_time, end_time, source_version, lifecycle_stage, artifact_uri,"
    " experiment_id)"
    " VALUES (?, ?, 'UNKNOWN', '', '', ?, 'RUNNING', ?, NULL, '', 'active', ?, ?)"
)


def _run_row(run_id: str, experiment: int, place: str, payload: "Payload") -> tuple[Any, ...]:
    user = payload.tags.get("mlflow.user", "unknown")
    return run_id, payload.name, user, payload.start, place, experiment


def _fill(db: sqlite3.Connection, runs: Sequence[tuple[str, "Payload"]]) -> None:
    """Tags, params, metrics and the end of some runs, a statement a table."""
    tags, params, metrics, ends = [], [], [], []
    latest: dict[tuple[str, str], tuple[Any, ...]] = {}
    for run_id, payload in runs:
        named = {**payload.tags, "mlflow.runName": payload.name, _TAG: payload.record_id}
        tags += [(key, value.replace(_OWN_ID, run_id), run_id) for key, value in named.items()]
        params += [(key, value, run_id) for key, value in payload.params.items()]
        stamp = payload.end or payload.start
        rows = [
            (name, *_number(value), stamp, step, run_id) for name, value, step in payload.metrics
        ]
        metrics += rows
        latest |= {(run_id, row[0]): row for row in sorted(rows, key=lambda row: row[4])}  # by step
        ends.append((payload.status, payload.end, payload.name, run_id))
    db.executemany("INSERT OR REPLACE INTO tags (key, value, run_uuid) VALUES (?, ?, ?)", tags)
    db.executemany("INSERT OR REPLACE INTO params (key, value, run_uuid) VALUES (?, ?, ?)", params)
    columns = "(key, value, is_nan, timestamp, step, run_uuid) VALUES (?, ?, ?, ?, ?, ?)"
    db.executemany(f"INSERT OR IGNORE INTO metrics {columns}", metrics)
    db.executemany(f"INSERT OR REPLACE INTO latest_metrics {columns}", list(latest.values()))
    db.executemany("UPDATE runs SET status = ?, end_time = ?, name = ? WHERE run_uuid = ?", ends)


def _number(value: float) -> tuple[float, int]:
    if math.isnan(value):
        return 0.0, 1
    return max(-_LARGEST, min(_LARGEST, value)), 0


def _copy(artifacts: dict[str, Path], target: Path) -> None:
    for name, path in artifacts.items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
