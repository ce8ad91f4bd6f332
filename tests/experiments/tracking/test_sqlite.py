"""The fast way into a local store writes what MLflow's own client writes, or nothing."""

import math
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.records.record import Record
from experiments.tracking import sqlite
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import RUN_ID, Payload, payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
ReadBack = Callable[[str, str], dict[str, Any]]
STRANGE = [
    ("nan", math.nan, 0),
    ("inf", math.inf, 0),
    ("low", -math.inf, 1),
    ("curve", 2.0, 7),
    ("curve", 1.0, 3),
]


def test_the_fast_way_writes_what_the_client_writes(
    tracked: LocalTracker, record: Record, tmp_path: Path, empty_store: Path, read_back: ReadBack
) -> None:
    sent = payload(record)
    sent = Payload(**{**vars(sent), "metrics": [*sent.metrics, *STRANGE]})
    assert sqlite.understands(tracked.database)
    fast = tracked.put([sent])[record.id]
    shutil.copyfile(empty_store, tmp_path / "slow.db")
    uri = f"sqlite:///{tmp_path / 'slow.db'}"
    slow = ClientTracker(uri, tmp_path / "slow").put([sent])[record.id]
    assert read_back(tracked.uri, fast) == read_back(uri, slow)


def test_search_runs_sees_the_fast_runs(tracked: LocalTracker, record: Record) -> None:
    import mlflow

    tracked.put([payload(record)])
    mlflow.set_tracking_uri(tracked.uri)
    table = mlflow.search_runs(
        experiment_names=["polynomial_order"],
        filter_string="metrics.loo_best_order = 3 and tags.book = 'fcml' and params.folds = '10'",
    )
    assert list(table["tags.mlflow.runName"]) == ["Figure 1.15"]
    assert "reproduced" in table["tags.mlflow.note.content"][0]


def test_an_unknown_schema_is_left_to_the_client(
    tracked: LocalTracker, record: Record, read_back: ReadBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "SCHEMAS", {"something-else"})
    monkeypatch.setattr(sqlite, "put", lambda *_: pytest.fail("wrote to an unknown schema"))
    run_id = tracked.put([payload(record)])[record.id]
    assert read_back(tracked.uri, run_id)["tags"][RUN_ID] == record.id
    assert tracked.logged() == {record.id}


def test_a_failing_transaction_leaves_nothing(tracked: LocalTracker, record: Record) -> None:
    sent = payload(record)
    broken = Payload(**{**vars(sent), "record_id": "other", "metrics": [("x", 1.0, None)]})  # type: ignore[list-item]
    with pytest.raises(sqlite3.IntegrityError):
        tracked.put([sent, broken])
    assert tracked.logged() == set()


def test_only_a_schema_that_was_tried_is_understood(tracked: LocalTracker, tmp_path: Path) -> None:
    assert sqlite.understands(tracked.database)
    assert not sqlite.understands(tmp_path / "gone.db")
    (tmp_path / "text.db").write_text("this is not a database")
    assert not sqlite.understands(tmp_path / "text.db")
    with sqlite3.connect(tracked.database) as database:
        database.execute("UPDATE alembic_version SET version_num = 'another'")
    assert not sqlite.understands(tracked.database)


def test_a_run_that_fails_leaves_no_files(tracked: LocalTracker, record: Record) -> None:
    broken = replace(payload(record), artifacts={"a.txt": record.folder / "gone"})
    with pytest.raises(FileNotFoundError):
        tracked.put([payload(record), replace(broken, record_id="other")])
    assert [path for path in tracked.artifacts.rglob("*") if path.is_file()] == []


def test_ids_are_uuids_of_version_7_in_the_order_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import uuid

    now = 1_700_000_000_000
    ids = []
    for later in range(3):
        monkeypatch.setattr(sqlite.time, "time_ns", lambda later=later: (now + later) * 10**6)
        ids.append(sqlite._run_id())
    assert ids == sorted(ids)
    for later, found in enumerate(map(uuid.UUID, ids)):
        assert (found.version, found.variant) == (7, uuid.RFC_4122)
        assert found.int >> 80 == now + later
