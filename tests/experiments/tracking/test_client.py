"""Runs are logged once, whole, whatever gets lost on the way."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.records.record import Record
from experiments.tracking.client import ClientTracker
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import RUN_ID, Payload, payload
from experiments.tracking.tracker import Forgiving, Refused, Unreachable

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


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


class Picky(Flaky):
    """A server that answers some calls with a status, and says which were made."""

    def __init__(self, store: str, outputs: Path, refused: dict[str, int], of: str = "") -> None:
        super().__init__(store, outputs, "")
        self.refused, self.of, self.asked = refused, of, Counter[str]()

    @property
    def client(self) -> Any:
        client = super().client
        for name in self.refused:
            setattr(client, name, partial(self._answer, name, getattr(client, name)))
        return client

    def _answer(self, name: str, carry_out: Any, *arguments: Any, **options: Any) -> Any:
        from mlflow.exceptions import MlflowException, get_error_code

        self.asked[name] += 1
        if self.of in str([arguments, options]):
            raise MlflowException("not you", error_code=get_error_code(self.refused[name]))
        return carry_out(*arguments, **options)


def one(record_id: str) -> Payload:
    return Payload(record_id, "s", record_id, "FINISHED", 1, 2)


def test_a_run_that_is_refused_is_passed_over(tracked: LocalTracker) -> None:
    outputs = tracked.database.parent
    server = Picky(tracked.uri, outputs, {"create_run": 403}, of="second")
    with pytest.raises(Refused) as refused:
        server.put([one("first"), one("second"), one("third")])
    (line,) = refused.value.lines
    assert line.startswith("second is not tracked (http://127.0.0.1:9: not you")
    assert refused.value.taken.keys() == {"first", "third"} == server.logged()
    assert server.asked["create_run"] == 3  # none of them again


def test_an_artifact_that_is_refused_is_one_runs_matter(
    tracked: LocalTracker, record: Record
) -> None:
    from requests import HTTPError, Response

    class Full(Flaky):
        @property
        def client(self) -> Any:
            answer = Response()
            answer.status_code = 413
            client = super().client
            client.log_artifacts = lambda *_: (_ for _ in ()).throw(HTTPError(response=answer))
            return client

    with pytest.raises(Refused) as refused:
        Full(tracked.uri, tracked.database.parent, "").put([payload(record), one("other")])
    assert refused.value.taken.keys() == {"other"}


@pytest.mark.parametrize("status", [401, 429])
def test_a_server_that_refuses_whoever_asks_is_not_asked_again(
    tracked: LocalTracker, status: int
) -> None:
    server = Picky(tracked.uri, tracked.database.parent, {"create_run": status})
    with pytest.raises(Unreachable, match="not you") as refused:
        server.put([one("first"), one("second")])
    assert not isinstance(refused.value, Refused)
    assert server.asked["create_run"] == 1


def test_a_duplicate_that_only_its_owner_may_delete_loses_its_name(
    tracked: LocalTracker,
) -> None:
    outputs = tracked.database.parent
    server = Picky(tracked.uri, outputs, {"delete_run": 403})
    first = server.put([one("first")])
    experiment = server.client.get_run(first["first"]).info.experiment_id
    late = server.client.create_run(experiment, tags={**server.own, RUN_ID: "first"})
    assert server.logged() == set()
    with pytest.raises(Refused) as refused:
        server.put([one("first"), one("second")])
    (line,) = refused.value.lines
    assert "a second run of first may only be deleted by its owner" in line
    assert late.info.run_id in line
    assert refused.value.taken.keys() == {"first", "second"} == server.logged()
    assert server.client.get_run(late.info.run_id).info.status == "KILLED"
    assert server.put([one("first"), one("second")]).keys() == {"first", "second"}  # told once


def test_refusals_cost_a_line_each_and_stop_nothing(tracked: LocalTracker) -> None:
    told: list[str] = []
    refusing = {"create_run": 403, "set_experiment_tag": 403}
    server = Picky(tracked.uri, tracked.database.parent, refusing, of="second")
    forgiving = Forgiving(server, told.append)
    assert forgiving.put([one("second"), one("third")]).keys() == {"third"}
    assert forgiving.put([one("fourth")]).keys() == {"fourth"}
    forgiving.describe({"s": {"of": "second"}})
    assert [line.split(" (")[0] for line in told] == [
        "second is not tracked",
        "the study s is not described",
    ]
    assert not forgiving.broken


def test_what_stood_in_the_way_is_told_first(outputs: Path) -> None:
    from mlflow.exceptions import MlflowException

    class Doubted(ClientTracker):
        @property
        def client(self) -> Any:
            between = "HTTPSConnectionPool: Max retries exceeded with url: /" + "x" * 300
            raise MlflowException(f"API request failed: {between} (Caused by SSLError('who?'))")

    with pytest.raises(Unreachable, match=r"^sqlite:///x: SSLError\('who\?'\)"):
        Doubted("sqlite:///x", None, outputs).put([one("first")])


def test_no_password_of_an_address_is_in_a_refusal(record: Record, outputs: Path) -> None:
    from mlflow.exceptions import RestException

    class Refusing(ClientTracker):
        @property
        def client(self) -> Any:
            raise RestException({"error_code": "PERMISSION_DENIED", "message": "not you"})

    with pytest.raises(Refused, match="not you") as refused:
        Refusing("http://user:secret@127.0.0.1:9", None, outputs).put([payload(record)])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("way", ["fast", "client", "server"])
def test_a_deleted_experiment_is_restored_and_told_of(
    tracked: LocalTracker,
    recorded: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    way: str,
) -> None:
    """With the runs it had."""
    from mlflow import MlflowClient

    monkeypatch.chdir(tmp_path)  # where a store that is no server keeps its files

    client = MlflowClient(tracked.uri)
    if way == "client":
        monkeypatch.setattr("experiments.tracking.sqlite.SCHEMAS", {"something-else"})
    flags = ["--tracking", "server", "--tracking-uri", tracked.uri] if way == "server" else []
    assert main(["sync", *flags]) == 0
    (before,) = _all_runs(client)
    client.delete_experiment(before.info.experiment_id)
    assert _all_runs(client) == []
    capsys.readouterr()
    assert main(["sync", *flags]) == 0
    told = capsys.readouterr()
    line = "the MLflow experiment polynomial_order had been deleted: it is restored, with its runs"
    assert told.err.count(line) == 1
    assert [run.info.run_id for run in _all_runs(client)] == [before.info.run_id]
    assert main(["sync", *flags]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "0 runs logged, 1 were there already" in told.out


def _all_runs(client: Any) -> list[Any]:
    return list(client.search_runs([found.experiment_id for found in client.search_experiments()]))
