"""What MLflow is told: each run once, the same by the fast way and by MLflow's own client."""

import math
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments.configuration.build import experiment_job
from experiments.records import run_files
from experiments.records.store import Record
from experiments.running.runner import perform_all
from experiments.tracking import sqlite
from experiments.tracking.client import ClientTracker, Forgiving, LocalTracker, Unreachable
from experiments.tracking.runs import RUN_ID, Payload, payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """MLflow writes where it stands unless told otherwise, so it stands where that is seen."""
    empty = tmp_path / "working"
    empty.mkdir()
    monkeypatch.chdir(empty)
    yield
    assert list(empty.iterdir()) == []


@pytest.fixture
def record(outputs: Path) -> Record:
    (done,) = perform_all([experiment_job("fcml/fig-1.15")], outputs)
    run_files.ensure(done.record)
    return done.record


def read_back(uri: str, run_id: str) -> dict[str, Any]:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    run = client.get_run(run_id)
    history = {
        name: sorted(
            (m.step, m.timestamp, repr(m.value)) for m in client.get_metric_history(run_id, name)
        )
        for name in run.data.metrics
    }
    listed = sorted(a.path for a in client.list_artifacts(run_id))
    info = run.info
    return {
        "params": run.data.params,
        "metrics": {name: repr(value) for name, value in run.data.metrics.items()},
        "history": history,
        "tags": {k: v.replace(run_id, "OWN-ID") for k, v in run.data.tags.items()},
        "artifacts": listed,
        "figures": sorted(a.path for a in client.list_artifacts(run_id, "figures")),
        "info": (info.run_name, info.status, info.start_time, info.end_time, info.lifecycle_stage),
        "experiment": client.get_experiment(info.experiment_id).name,
    }


STRANGE = [
    ("nan", math.nan, 0),
    ("inf", math.inf, 0),
    ("low", -math.inf, 1),
    ("curve", 2.0, 7),
    ("curve", 1.0, 3),
]


def test_the_fast_way_writes_what_the_client_writes(
    tracked: LocalTracker, record: Record, tmp_path: Path, empty_store: Path
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


def test_a_run_is_logged_once(tracked: LocalTracker, record: Record) -> None:
    first = tracked.put([payload(record)])
    assert tracked.put([payload(record), payload(record)]) == first
    assert tracked.logged() == {record.id}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.put([payload(record)]) == first
    assert client.logged() == {record.id}


def test_a_run_that_an_interruption_left_half_logged_is_completed(
    tracked: LocalTracker, record: Record
) -> None:
    sent = payload(record)
    half = Payload(**{**vars(sent), "status": "RUNNING", "end": None, "metrics": sent.metrics[:2]})
    client = ClientTracker(tracked.uri, tracked.artifacts)
    begun = client.put([half])[record.id]
    assert tracked.logged() == set()
    assert client.put([sent])[record.id] == begun
    whole = read_back(tracked.uri, begun)
    assert whole["info"][1] == "FINISHED"
    assert whole["metrics"].keys() == {name for name, _, _ in sent.metrics}
    assert tracked.logged() == {record.id}


def test_an_unknown_schema_is_left_to_the_client(
    tracked: LocalTracker, record: Record, monkeypatch: pytest.MonkeyPatch
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


def test_a_store_that_cannot_be_reached_costs_a_line(record: Record) -> None:
    class Gone:
        def put(self, payloads: object) -> dict[str, str]:
            raise Unreachable("connection refused")

        def logged(self) -> set[str]:
            return set()

    told: list[str] = []
    tracker = Forgiving(Gone(), told.append)
    assert tracker.put([payload(record)]) == {}
    assert tracker.put([payload(record)]) == {}
    assert len(told) == 1
    assert "bythebook sync" in told[0]


def test_what_is_shown_cannot_be_script(record: Record) -> None:
    claim = {**record["printed"]["claims"][0], "says": "<script>alert(1)</script> | x"}
    printed = {**record["printed"], "claims": [claim]}
    hostile = Record(record.folder, {**record.content, "printed": printed, "canonical": False})
    note = payload(hostile).tags["mlflow.note.content"]
    assert "<script>" not in note
    assert "\\|" in note


class Flaky(ClientTracker):
    """A server whose answer gets lost: the named call is carried out, and then fails, once."""

    def __init__(self, store: str, outputs: Path, lost: str) -> None:
        super().__init__("http://127.0.0.1:9", outputs.parent / "files", outputs)
        self.store, self.lost = store, lost

    @property
    def client(self) -> Any:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        client = MlflowClient(self.store)
        if self.lost:
            carried_out = getattr(client, self.lost)

            def lose(*arguments: Any, **options: Any) -> None:
                self.lost = ""
                carried_out(*arguments, **options)
                raise MlflowException("the connection was reset")

            setattr(client, self.lost, lose)
        return client


@pytest.mark.parametrize(
    "lost", ["create_experiment", "create_run", "log_batch", "log_artifacts", "set_terminated"]
)
def test_an_answer_that_gets_lost_leaves_one_whole_run(
    tracked: LocalTracker, record: Record, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setattr("experiments.tracking.client.PAUSES", (0.0,))
    outputs = tracked.database.parent
    run_id = Flaky(tracked.uri, outputs, lost).put([payload(record)])[record.id]
    assert Flaky(tracked.uri, outputs, "").logged() == {record.id}
    found = read_back(tracked.uri, run_id)
    assert found["info"][1] == "FINISHED"
    assert found["metrics"].keys() == {name for name, _, _ in payload(record).metrics}
    assert "run.json" in found["artifacts"]


def test_a_run_that_was_created_too_late_is_removed(tracked: LocalTracker, record: Record) -> None:
    outputs = tracked.database.parent
    server = Flaky(tracked.uri, outputs, "")
    first = server.put([payload(record)])
    experiment = server.client.get_run(first[record.id]).info.experiment_id
    server.client.create_run(experiment, tags={**server.own, RUN_ID: record.id})
    assert server.logged() == set()
    assert server.put([payload(record)]) == first
    assert server.logged() == {record.id}


def test_each_outputs_folder_has_its_own_runs_on_a_server(
    tracked: LocalTracker, record: Record, tmp_path: Path
) -> None:
    """One record id in two folders is two runs: one may have failed where the other has not."""
    here, there = (Flaky(tracked.uri, tmp_path / name, "") for name in ("here", "there"))
    first, second = here.put([payload(record)]), there.put([payload(record)])
    assert first[record.id] != second[record.id]
    assert here.logged() == there.logged() == {record.id}
    moved = (tmp_path / "here").rename(tmp_path / "moved")
    assert Flaky(tracked.uri, moved, "").put([payload(record)]) == first


def test_a_sweep_that_is_resumed_with_other_words_is_brought_up_to_date(
    tracked: LocalTracker,
) -> None:
    server = Flaky(tracked.uri, tracked.database.parent, "")
    begun = Payload("sweep-1", "s", "a sweep", "RUNNING", 1, None, {"overrides": "a"}, update=True)
    ended = Payload("sweep-1", "s", "a sweep", "FINISHED", 1, 2, {"overrides": "b"}, update=True)
    assert server.put([begun]) == server.put([ended])
    assert server.logged() == {"sweep-1"}


def test_a_server_that_refuses_is_not_asked_again(
    record: Record, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.exceptions import RestException

    asked: list[int] = []

    class Refusing(ClientTracker):
        @property
        def client(self) -> Any:
            asked.append(1)
            raise RestException({"error_code": "PERMISSION_DENIED", "message": "not you"})

    monkeypatch.setattr("experiments.tracking.client.PAUSES", (0.0, 0.0))
    with pytest.raises(Unreachable, match="not you"):
        Refusing("http://user:secret@127.0.0.1:9", None, outputs).put([payload(record)])
    assert asked == [1]
