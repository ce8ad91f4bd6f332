"""The direct writer to a local store writes the same as MLflow's client, or nothing."""

import math
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking import sqlite_writer
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import RUN_ID_TAG, Payload, run_payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
ReadBack = Callable[[str, str], dict[str, Any]]
SPECIAL = [
    ("nan", math.nan, 0),
    ("inf", math.inf, 0),
    ("low", -math.inf, 1),
    ("curve", 2.0, 7),
    ("curve", 1.0, 3),
]


def test_the_direct_writer_writes_the_same_as_the_client(
    tracked: LocalTracker, record: Record, tmp_path: Path, empty_store: Path, read_back: ReadBack
) -> None:
    sent = run_payload(record)
    sent = Payload(**{**vars(sent), "metrics": [*sent.metrics, *SPECIAL]})
    assert sqlite_writer.has_supported_schema(tracked.database)
    fast = tracked.log_runs([sent])[record.id]
    shutil.copyfile(empty_store, tmp_path / "slow.db")
    uri = f"sqlite:///{tmp_path / 'slow.db'}"
    slow = ClientTracker(uri, tmp_path / "slow").log_runs([sent])[record.id]
    assert read_back(tracked.uri, fast) == read_back(uri, slow)


def test_search_runs_finds_the_runs(tracked: LocalTracker, record: Record) -> None:
    import mlflow

    tracked.log_runs([run_payload(record)])
    mlflow.set_tracking_uri(tracked.uri)
    table = mlflow.search_runs(
        experiment_names=["polynomial_order"],
        filter_string="metrics.loo_best_order = 3 and tags.book = 'fcml'"
        " and params.partitions = '1'",
    )
    assert list(table["tags.mlflow.runName"]) == ["Figure 1.15"]
    assert "reproduced" in table["tags.mlflow.note.content"][0]


def test_an_unknown_schema_is_left_to_the_client(
    tracked: LocalTracker, record: Record, read_back: ReadBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "SUPPORTED_SCHEMAS", {"something-else"})
    monkeypatch.setattr(
        sqlite_writer, "insert_runs", lambda *_: pytest.fail("wrote to an unknown schema")
    )
    run_id = tracked.log_runs([run_payload(record)])[record.id]
    assert read_back(tracked.uri, run_id)["tags"][RUN_ID_TAG] == record.id
    assert tracked.logged_ids() == {record.id}


def test_a_failing_transaction_leaves_nothing(tracked: LocalTracker, record: Record) -> None:
    sent = run_payload(record)
    broken = Payload(**{**vars(sent), "record_id": "other", "metrics": [("x", 1.0, None)]})  # type: ignore[list-item]
    with pytest.raises(sqlite3.IntegrityError):
        tracked.log_runs([sent, broken])
    assert tracked.logged_ids() == set()


def test_only_known_schemas_are_supported(tracked: LocalTracker, tmp_path: Path) -> None:
    assert sqlite_writer.has_supported_schema(tracked.database)
    assert not sqlite_writer.has_supported_schema(tmp_path / "missing.db")
    (tmp_path / "text.db").write_text("this is not a database")
    assert not sqlite_writer.has_supported_schema(tmp_path / "text.db")
    with sqlite3.connect(tracked.database) as database:
        database.execute("UPDATE alembic_version SET version_num = 'another'")
    assert not sqlite_writer.has_supported_schema(tracked.database)


def test_a_run_that_fails_leaves_no_files(tracked: LocalTracker, record: Record) -> None:
    broken = replace(run_payload(record), artifacts={"a.txt": record.folder / "missing"})
    with pytest.raises(FileNotFoundError):
        tracked.log_runs([run_payload(record), replace(broken, record_id="other")])
    assert [path for path in tracked.artifacts.rglob("*") if path.is_file()] == []


def test_ids_are_uuids_of_version_7_in_the_order_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import uuid

    now = 1_700_000_000_000
    ids = []
    for later in range(3):
        monkeypatch.setattr(
            sqlite_writer.time, "time_ns", lambda later=later: (now + later) * 10**6
        )
        ids.append(sqlite_writer._run_id())
    assert ids == sorted(ids)
    for later, run_id in enumerate(map(uuid.UUID, ids)):
        assert (run_id.version, run_id.variant) == (7, uuid.RFC_4122)
        assert run_id.int >> 80 == now + later
