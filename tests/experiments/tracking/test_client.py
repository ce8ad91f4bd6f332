"""Runs are logged once, whole, whatever gets lost on the way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.records.store import Record
from experiments.tracking.client import ClientTracker, Forgiving, LocalTracker, Unreachable
from experiments.tracking.runs import RUN_ID, Payload, payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


def test_a_run_is_logged_once(tracked: LocalTracker, record: Record) -> None:
    first = tracked.put([payload(record)])
    assert tracked.put([payload(record), payload(record)]) == first
    assert tracked.logged() == {record.id}
    client = ClientTracker(tracked.uri, tracked.artifacts)
    assert client.put([payload(record)]) == first
    assert client.logged() == {record.id}


def test_a_run_that_an_interruption_left_half_logged_is_completed(
    tracked: LocalTracker, record: Record, read_back: Callable[[str, str], dict[str, Any]]
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
    tracked: LocalTracker,
    record: Record,
    read_back: Callable[[str, str], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
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
