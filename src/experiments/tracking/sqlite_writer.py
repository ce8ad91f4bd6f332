"""Write runs directly into the SQLite tables of a local MLflow store, many per transaction.

MLflow needs two seconds to import, and its client about 40 ms per run; a row needs microseconds.
This module supports SQLite files with the schema versions in `SUPPORTED_SCHEMAS`; for other files
the caller uses MLflow's client. A test compares the runs that both write.
"""

import math
import secrets
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bythebook.experiments.config.paths import check_inside
from bythebook.experiments.core.slugs import slugify
from bythebook.experiments.tracking.known_runs import known_run_ids
from bythebook.experiments.tracking.payload import RUN_ID_PLACEHOLDER, RUN_ID_TAG, Payload

SUPPORTED_SCHEMAS = {"dc11669786a5"}  # MLflow 3.17
MAX_DOUBLE = 1.7976931348623157e308  # MLflow clamps infinities to the largest double
BUSY_TIMEOUT_S = 120  # to wait for another writer


def has_supported_schema(database: Path) -> bool:
    """Whether this module supports the schema of the database."""
    address = f"{database.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, timeout=BUSY_TIMEOUT_S, uri=True)) as connection:
            rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error:
        return False
    return len(rows) == 1 and rows[0][0] in SUPPORTED_SCHEMAS


def run_tags(database: Path, tag: str, value: str | None = None) -> dict[str, str]:
    """The value of a tag, for each logged record that carries it (with `value`, if it is set)."""
    sql = (
        "SELECT records.value, tags.value FROM tags JOIN tags AS records"
        " ON records.run_uuid = tags.run_uuid AND records.key = ?"
        " JOIN runs ON runs.run_uuid = tags.run_uuid JOIN experiments USING (experiment_id)"
        " WHERE tags.key = ? AND status != 'RUNNING'"
        " AND runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active'"
    )
    parameters = [RUN_ID_TAG, tag]
    if value is not None:
        sql, parameters = f"{sql} AND tags.value = ?", [*parameters, value]
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        return dict(connection.execute(sql, parameters).fetchall())


def find_logged(database: Path, record_ids: Sequence[str], tag: str) -> dict[str, str]:
    """The logged ones of these records, each with the value of a tag, or an empty text."""
    sql = "SELECT value FROM tags WHERE key = ? AND run_uuid = ?"
    values = {}
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        known = _existing_runs(
            connection, known_run_ids(database, connection).find_logged(record_ids)
        )
        for record_id, (run_id, status) in known.items():
            if status != "RUNNING":
                row = connection.execute(sql, [tag, run_id]).fetchone()
                values[record_id] = str(row[0]) if row else ""
    return values


def experiment_names(database: Path) -> dict[str, dict[str, str]]:
    """The tags of every experiment, by its name."""
    sql = "SELECT name, key, value FROM experiments LEFT JOIN experiment_tags USING (experiment_id)"
    by_name: dict[str, dict[str, str]] = {}
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        for name, key, value in connection.execute(f"{sql} WHERE lifecycle_stage = 'active'"):
            tags = by_name.setdefault(name, {})
            if key is not None:
                tags[key] = value
    return by_name


def set_experiment_tags(database: Path, tags: Mapping[str, Mapping[str, str]]) -> None:
    """Set tags of experiments in the store."""
    sql = (
        "INSERT OR REPLACE INTO experiment_tags (key, value, experiment_id)"
        " SELECT ?, ?, experiment_id FROM experiments WHERE name = ? AND workspace = 'default'"
    )
    rows = [(key, value, name) for name, values in tags.items() for key, value in values.items()]
    with _transaction(database) as db:
        db.executemany(sql, rows)


def restore_deleted_experiments(database: Path, names: Collection[str]) -> list[str]:
    """Restore the deleted ones of these experiments with their runs; return their names.

    Runs that had been deleted before their experiment stay deleted; MLflow restores these as well.
    """
    with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
        if not _deleted(connection, names):
            return []
    with _transaction(database) as db:
        deleted = _deleted(db, names)
        for number, _ in deleted:
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
    return [name for _, name in deleted]


def _deleted(db: sqlite3.Connection, names: Collection[str]) -> list[tuple[int, str]]:
    sql = "SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'deleted'"
    rows = db.execute(f"{sql} AND workspace = 'default'")
    return [(number, name) for number, name in rows if name in names]


def insert_runs(database: Path, artifacts: Path, payloads: Sequence[Payload]) -> dict[str, str]:
    """Log the runs that are not logged yet; the write lock makes search and write one step."""
    logged: dict[str, str] = {}
    with _transaction(database) as db, _remove_on_error() as new_folders:
        index = known_run_ids(database, db)
        known = _existing_runs(db, index.find_logged([payload.record_id for payload in payloads]))
        experiments: dict[str, tuple[int, Path]] = {}  # id and folder by name
        new_rows, to_fill = [], []
        for payload in payloads:
            existing = known.get(payload.record_id)
            if existing and existing[1] != "RUNNING" and not payload.update:
                logged[payload.record_id] = existing[0]
                continue
            name, run_id = payload.experiment, existing[0] if existing else _run_id()
            if name not in experiments:
                folder = artifacts / slugify(name)
                experiments[name] = _experiment(db, name, folder), folder
            number, folder = experiments[name]
            if payload.artifacts:
                target = folder / run_id / "artifacts"
                if not existing:
                    new_folders.append(target.parent)
                _copy(payload.artifacts, check_inside(artifacts.parent, target))
            if not existing:
                new_rows.append(_run_row(run_id, number, f"{folder}/{run_id}/artifacts", payload))
            to_fill.append((run_id, payload))
            logged[payload.record_id] = run_id
        db.executemany(_RUN, new_rows)
        _insert_rows(db, to_fill)
    return logged


@contextmanager
def _remove_on_error() -> Iterator[list[Path]]:
    """Collect folders, and remove them if the transaction fails."""
    folders: list[Path] = []
    try:
        yield folders
    except BaseException:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _transaction(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(
        sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    ) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _run_id() -> str:
    """A run id in MLflow's format that starts with the time (a UUID of version 7).

    Ordered ids put new rows on the same pages of the database. With unordered ids, ten thousand
    runs take four times as long to write.
    """
    stamp, bits = time.time_ns() // 1_000_000, secrets.randbits(74)
    return f"{stamp << 80 | 7 << 76 | bits >> 62 << 64 | 2 << 62 | bits % 2**62:032x}"


def _existing_runs(db: sqlite3.Connection, record_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """MLflow's run id and the status, for each of these records that is in the store."""
    if not record_ids:
        return {}
    sql = (
        "SELECT tags.value, run_uuid, status FROM tags JOIN runs USING (run_uuid)"
        " JOIN experiments USING (experiment_id) WHERE tags.key = ?"
        " AND runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active'"
    )
    sql += f" AND tags.value IN ({', '.join('?' * len(record_ids))})"
    rows = db.execute(sql, [RUN_ID_TAG, *record_ids])
    return {record_id: (run_id, status) for record_id, run_id, status in rows}


def _experiment(db: sqlite3.Connection, name: str, folder: Path) -> int:
    """The id of an experiment, which is created if it does not exist."""
    sql = "SELECT experiment_id FROM experiments WHERE name = ? AND workspace = 'default'"
    row = db.execute(sql, [name]).fetchone()
    if row is None:
        stamp = int(1000 * time.time())
        db.execute(
            "INSERT INTO experiments (name, artifact_location, lifecycle_stage, creation_time,"
            " last_update_time, workspace) VALUES (?, ?, 'active', ?, ?, 'default')",
            [name, str(folder), stamp, stamp],
        )
        row = db.execute(sql, [name]).fetchone()
    return int(row[0])


_RUN = (
    "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id,"
    " status, start_time, end_time, source_version, lifecycle_stage, artifact_uri,"
    " experiment_id)"
    " VALUES (?, ?, 'UNKNOWN', '', '', ?, 'RUNNING', ?, NULL, '', 'active', ?, ?)"
)


def _run_row(run_id: str, experiment: int, location: str, payload: Payload) -> tuple[Any, ...]:
    user = payload.tags.get("mlflow.user", "unknown")
    return run_id, payload.name, user, payload.start, location, experiment


def _insert_rows(db: sqlite3.Connection, runs: Sequence[tuple[str, Payload]]) -> None:
    """Write tags, params, metrics and the end of some runs, with one statement per table."""
    tags, params, metrics, ends = [], [], [], []
    latest: dict[tuple[str, str], tuple[Any, ...]] = {}
    for run_id, payload in runs:
        own_tags = {**payload.tags, "mlflow.runName": payload.name, RUN_ID_TAG: payload.record_id}
        tags += [
            (key, value.replace(RUN_ID_PLACEHOLDER, run_id), run_id)
            for key, value in own_tags.items()
        ]
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
    return max(-MAX_DOUBLE, min(MAX_DOUBLE, value)), 0


def _copy(artifacts: dict[str, Path], target: Path) -> None:
    for name, path in artifacts.items():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
