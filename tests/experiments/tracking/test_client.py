"""Runs are logged once and completely, also if answers are lost or requests rejected."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import RUN_ID_TAG, Payload, run_payload
from bythebook.experiments.tracking.tracker import (
    FaultTolerantTracker,
    TrackingRejectedError,
    TrackingUnavailableError,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn


class Flaky(ClientTracker):
    """A server that loses an answer: the named call is executed and then fails, once."""

    def __init__(self, store: str, outputs: Path, lost: str) -> None:
        super().__init__("http://127.0.0.1:9", outputs.parent / "files", outputs)
        self.store, self.lost = store, lost

    @property
    def client(self) -> Any:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        client = MlflowClient(self.store)
        if self.lost:
            execute = getattr(client, self.lost)

            def lose(*arguments: Any, **options: Any) -> None:
                self.lost = ""
                execute(*arguments, **options)
                raise MlflowException("the connection was reset")

            setattr(client, self.lost, lose)
        return client


@pytest.mark.parametrize(
    "lost", ["create_experiment", "create_run", "log_batch", "log_artifacts", "set_terminated"]
)
def test_a_lost_answer_leaves_one_complete_run(
    tracked: LocalTracker,
    record: Record,
    read_back: Callable[[str, str], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
) -> None:
    monkeypatch.setattr("bythebook.experiments.tracking.client.RETRY_DELAYS_S", (0.0,))
    outputs = tracked.database.parent
    run_id = Flaky(tracked.uri, outputs, lost).log_runs([run_payload(record)])[record.id]
    assert Flaky(tracked.uri, outputs, "").logged_ids() == {record.id}
    run = read_back(tracked.uri, run_id)
    assert run["info"][1] == "FINISHED"
    assert run["metrics"].keys() == {name for name, _, _ in run_payload(record).metrics}
    assert "run.json" in run["artifacts"]


def test_a_duplicate_run_is_removed(tracked: LocalTracker, record: Record) -> None:
    outputs = tracked.database.parent
    server = Flaky(tracked.uri, outputs, "")
    first = server.log_runs([run_payload(record)])
    experiment = server.client.get_run(first[record.id]).info.experiment_id
    server.client.create_run(experiment, tags={**server.own, RUN_ID_TAG: record.id})
    assert server.logged_ids() == set()
    assert server.log_runs([run_payload(record)]) == first
    assert server.logged_ids() == {record.id}


def test_outputs_folders_have_separate_runs_on_a_server(
    tracked: LocalTracker, record: Record, tmp_path: Path
) -> None:
    """One record id in two folders is two runs, because one of them may have failed."""
    one, two = (Flaky(tracked.uri, tmp_path / name, "") for name in ("one", "two"))
    first, second = one.log_runs([run_payload(record)]), two.log_runs([run_payload(record)])
    assert first[record.id] != second[record.id]
    assert one.logged_ids() == two.logged_ids() == {record.id}
    moved = (tmp_path / "one").rename(tmp_path / "moved")
    assert Flaky(tracked.uri, moved, "").log_runs([run_payload(record)]) == first


def test_a_resumed_sweep_with_other_overrides_is_updated(
    tracked: LocalTracker,
) -> None:
    server = Flaky(tracked.uri, tracked.database.parent, "")
    begun = Payload("sweep-1", "s", "a sweep", "RUNNING", 1, None, {"overrides": "a"}, update=True)
    ended = Payload("sweep-1", "s", "a sweep", "FINISHED", 1, 2, {"overrides": "b"}, update=True)
    assert server.log_runs([begun]) == server.log_runs([ended])
    assert server.logged_ids() == {"sweep-1"}


class Rejecting(Flaky):
    """A server that rejects some calls with a status code, and counts the calls."""

    def __init__(self, store: str, outputs: Path, rejected: dict[str, int], of: str = "") -> None:
        super().__init__(store, outputs, "")
        self.rejected, self.of, self.requests = rejected, of, Counter[str]()

    @property
    def client(self) -> Any:
        client = super().client
        for name in self.rejected:
            setattr(client, name, partial(self._answer, name, getattr(client, name)))
        return client

    def _answer(self, name: str, execute: Any, *arguments: Any, **options: Any) -> Any:
        from mlflow.exceptions import MlflowException, get_error_code

        self.requests[name] += 1
        if self.of in str([arguments, options]):
            raise MlflowException("not you", error_code=get_error_code(self.rejected[name]))
        return execute(*arguments, **options)


def one(record_id: str) -> Payload:
    return Payload(record_id, "s", record_id, "FINISHED", 1, 2)


def test_a_rejected_run_is_skipped(tracked: LocalTracker) -> None:
    outputs = tracked.database.parent
    server = Rejecting(tracked.uri, outputs, {"create_run": 403}, of="second")
    with pytest.raises(TrackingRejectedError) as error:
        server.log_runs([one("first"), one("second"), one("third")])
    (line,) = error.value.lines
    assert line.startswith("could not log second (http://127.0.0.1:9: not you")
    assert error.value.logged.keys() == {"first", "third"} == server.logged_ids()
    assert server.requests["create_run"] == 3  # each once


def test_a_rejected_artifact_concerns_one_run(tracked: LocalTracker, record: Record) -> None:
    from requests import HTTPError, Response

    class Full(Flaky):
        @property
        def client(self) -> Any:
            answer = Response()
            answer.status_code = 413
            client = super().client
            client.log_artifacts = lambda *_: (_ for _ in ()).throw(HTTPError(response=answer))
            return client

    with pytest.raises(TrackingRejectedError) as error:
        Full(tracked.uri, tracked.database.parent, "").log_runs([run_payload(record), one("other")])
    assert error.value.logged.keys() == {"other"}


@pytest.mark.parametrize("status", [401, 429])
def test_a_request_is_not_repeated_if_the_server_rejects_the_user(
    tracked: LocalTracker, status: int
) -> None:
    server = Rejecting(tracked.uri, tracked.database.parent, {"create_run": status})
    with pytest.raises(TrackingUnavailableError, match="not you") as error:
        server.log_runs([one("first"), one("second")])
    assert not isinstance(error.value, TrackingRejectedError)
    assert server.requests["create_run"] == 1


def test_a_duplicate_of_another_owner_is_untagged(
    tracked: LocalTracker,
) -> None:
    outputs = tracked.database.parent
    server = Rejecting(tracked.uri, outputs, {"delete_run": 403})
    first = server.log_runs([one("first")])
    experiment = server.client.get_run(first["first"]).info.experiment_id
    late = server.client.create_run(experiment, tags={**server.own, RUN_ID_TAG: "first"})
    assert server.logged_ids() == set()
    with pytest.raises(TrackingRejectedError) as error:
        server.log_runs([one("first"), one("second")])
    (line,) = error.value.lines
    assert "of first, which another user owns" in line
    assert late.info.run_id in line
    assert error.value.logged.keys() == {"first", "second"} == server.logged_ids()
    assert server.client.get_run(late.info.run_id).info.status == "KILLED"
    assert server.log_runs([one("first"), one("second")]).keys() == {
        "first",
        "second",
    }  # no error again


def test_rejections_are_reported_in_one_line_each(tracked: LocalTracker) -> None:
    lines: list[str] = []
    rejected = {"create_run": 403, "set_experiment_tag": 403}
    server = Rejecting(tracked.uri, tracked.database.parent, rejected, of="second")
    tolerant = FaultTolerantTracker(server, lines.append)
    assert tolerant.log_runs([one("second"), one("third")]).keys() == {"third"}
    assert tolerant.log_runs([one("fourth")]).keys() == {"fourth"}
    tolerant.set_experiment_tags({"s": {"of": "second"}})
    assert [line.split(" (")[0] for line in lines] == [
        "could not log second",
        "could not set tags of the study s",
    ]
    assert not tolerant.broken


def test_the_message_starts_with_the_cause(outputs: Path) -> None:
    from mlflow.exceptions import MlflowException

    class BadCertificate(ClientTracker):
        @property
        def client(self) -> Any:
            layers = "HTTPSConnectionPool: Max retries exceeded with url: /" + "x" * 300
            raise MlflowException(f"API request failed: {layers} (Caused by SSLError('who?'))")

    with pytest.raises(TrackingUnavailableError, match=r"^sqlite:///x: SSLError\('who\?'\)"):
        BadCertificate("sqlite:///x", None, outputs).log_runs([one("first")])


def test_a_rejection_does_not_contain_the_password_of_the_address(
    record: Record, outputs: Path
) -> None:
    from mlflow.exceptions import RestException

    class Denying(ClientTracker):
        @property
        def client(self) -> Any:
            raise RestException({"error_code": "PERMISSION_DENIED", "message": "not you"})

    with pytest.raises(TrackingRejectedError, match="not you") as error:
        Denying("http://user:secret@127.0.0.1:9", None, outputs).log_runs([run_payload(record)])
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("way", ["fast", "client", "server"])
def test_a_deleted_experiment_is_restored_with_its_runs(
    tracked: LocalTracker,
    recorded: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    way: str,
) -> None:
    """The restored experiment is reported once."""
    from mlflow import MlflowClient

    monkeypatch.chdir(tmp_path)  # MLflow stores the files of an SQLite store here

    client = MlflowClient(tracked.uri)
    if way == "client":
        monkeypatch.setattr(
            "bythebook.experiments.tracking.sqlite_writer.SUPPORTED_SCHEMAS", {"something-else"}
        )
    flags = ["--tracking", "server", "--tracking-uri", tracked.uri] if way == "server" else []
    assert main(["sync", *flags]) == 0
    (before,) = [run for run in _all_runs(client) if run.data.tags["kind"] != "equations"]
    client.delete_experiment(before.info.experiment_id)
    assert before.info.run_id not in [run.info.run_id for run in _all_runs(client)]
    capsys.readouterr()
    assert main(["sync", *flags]) == 0
    captured = capsys.readouterr()
    line = "restored the deleted MLflow experiment polynomial_order with its runs"
    assert captured.err.count(line) == 1
    assert before.info.run_id in [run.info.run_id for run in _all_runs(client)]
    assert main(["sync", *flags]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "0 runs logged, 2 already present" in captured.out  # one of equations


def _all_runs(client: Any) -> list[Any]:
    return list(client.search_runs([entry.experiment_id for entry in client.search_experiments()]))
