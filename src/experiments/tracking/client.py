"""Log recorded runs to any MLflow store through MLflow's client, each run exactly once.

The record on disk is authoritative; the MLflow run is built from it. Every MLflow run carries the
id of its record in the tag `bythebook.run_id`. A run that is logged is not logged again, and a run
that an interruption left in status RUNNING is completed. Logging can thus be repeated at any time.
"""

import os
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bythebook.experiments.config.credentials import redact_credentials
from bythebook.experiments.core.atomic_files import read_limited, write_text_atomic
from bythebook.experiments.core.slugs import slugify
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.experiments.tracking.payload import (
    KILLED,
    RUN_ID_PLACEHOLDER,
    RUN_ID_TAG,
    RUNNING,
    Payload,
)
from bythebook.experiments.tracking.tracker import (
    Tracker,
    TrackingRejectedError,
    TrackingUnavailableError,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

T = TypeVar("T")
OUTPUTS_ID_TAG = "bythebook.outputs"  # the folder of a run; several folders may share a server
RETRY_DELAYS_S = (1.0, 4.0)  # before a request to a server is repeated
AUTH_STATUS_CODES = (401, 429)  # the server rejects the user, not the request


class ClientTracker(Tracker):
    """A tracker for any MLflow store: one request creates a run, one logs it, one finishes it.

    A server holds runs of many outputs folders, and its interface cannot search and write in one
    transaction. A run is therefore identified by its folder and its record, and a lock serialises
    the processes that use the same folder.
    """

    def __init__(self, uri: str, artifacts: Path | None, outputs: Path | None = None) -> None:
        self.uri = uri
        self.artifacts = artifacts
        self.own = {} if outputs is None else {OUTPUTS_ID_TAG: outputs_id(outputs)}
        self.lock = outputs / ".server.lock" if outputs is not None else None
        self._messages: list[str] = []
        silence_mlflow()

    def pop_messages(self) -> list[str]:
        messages, self._messages = self._messages, []
        return messages

    @property
    def client(self) -> "MlflowClient":
        from mlflow import MlflowClient

        return MlflowClient(self.uri)

    def log_runs(self, payloads: Sequence[Payload]) -> dict[str, str]:
        logged: dict[str, str] = {}
        lines: list[str] = []
        with exclusive_lock(self.lock) if self.lock else nullcontext():
            for payload in payloads:
                try:
                    log = partial(self._log_run, payload=payload, lines=lines)
                    logged[payload.record_id] = self._with_retries(log)
                except TrackingRejectedError as error:
                    lines.append(f"could not log {payload.record_id} ({error})")
        if lines:
            raise TrackingRejectedError(lines, logged)
        return logged

    def run_tags(self, tag: str) -> dict[str, str]:
        return self._with_retries(partial(self._search_tags, tag=tag))

    def experiment_names(self) -> dict[str, dict[str, str]]:
        experiments = self._with_retries(lambda client: client.search_experiments())
        return {entry.name: dict(entry.tags) for entry in experiments}

    def set_experiment_tags(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        lines = []
        for name, values in tags.items():
            try:
                self._with_retries(partial(self._set_tags, name=name, tags=values))
            except TrackingRejectedError as error:
                lines.append(f"could not set tags of the study {name} ({error})")
        if lines:
            raise TrackingRejectedError(lines)

    def _set_tags(self, client: "MlflowClient", name: str, tags: Mapping[str, str]) -> None:
        experiment = client.get_experiment_by_name(name)
        if experiment is not None:
            for key, value in tags.items():
                client.set_experiment_tag(experiment.experiment_id, key, value)

    def _with_retries(self, action: "Callable[[MlflowClient], T]") -> T:
        """Call `action`, and repeat it after a delay if a server does not answer.

        Each action searches before it writes, so a repetition logs nothing twice. If MLflow itself
        repeated a request that was answered too late, it would create a second run.
        """
        for delay in (*RETRY_DELAYS_S, None) if self.uri.startswith("http") else (None,):
            try:
                return action(self.client)
            except store_errors() as error:
                if _refusal(error) is not None and _refusal(error) not in AUTH_STATUS_CODES:
                    raise TrackingRejectedError([str(unreachable(self.uri, error))]) from error
                if delay is None or _refusal(error) is not None:
                    raise unreachable(self.uri, error) from error
                time.sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    def _search_tags(self, client: "MlflowClient", tag: str) -> dict[str, str]:
        experiments = [e.experiment_id for e in client.search_experiments()]
        states: dict[str, list[tuple[str, str]]] = {}
        token = None
        while True:
            page = client.search_runs(
                experiments, self._owner_filter(), max_results=1000, page_token=token
            )
            for run in page:
                if RUN_ID_TAG in run.data.tags and tag in run.data.tags:
                    state = run.info.status, run.data.tags[tag]
                    states.setdefault(run.data.tags[RUN_ID_TAG], []).append(state)
            token = page.token
            if not token:
                return {
                    name: runs[0][1]
                    for name, runs in states.items()
                    if len(runs) == 1 and runs[0][0] != RUNNING
                }

    def _owner_filter(self, **tags: str) -> str:
        wanted = {**self.own, **tags}
        return " and ".join(f"tags.`{name}` = '{value}'" for name, value in wanted.items())

    def _log_run(self, client: "MlflowClient", payload: Payload, lines: list[str]) -> str:
        experiment = self._experiment(client, payload.experiment)
        tags = {RUN_ID_TAG: payload.record_id}
        runs = sorted(
            client.search_runs([experiment], self._owner_filter(**tags)), key=_completeness_key
        )
        for duplicate in runs[1:]:  # created by a request that was answered too late
            self._remove(client, duplicate, lines)
        run = runs[0] if runs else None
        if run is not None and run.info.status != RUNNING and not payload.update:
            return str(run.info.run_id)
        if run is None:
            run = client.create_run(experiment, payload.start, {**self.own, **tags}, payload.name)
        run_id = str(run.info.run_id)
        # The overrides of a resumed sweep may differ, but MLflow does not change a param.
        params = {k: v for k, v in payload.params.items() if k not in run.data.params}
        self._log(client, run_id, replace(payload, params=params))
        if payload.artifacts:
            with tempfile.TemporaryDirectory() as folder:
                for name, path in payload.artifacts.items():
                    link = Path(folder) / name
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(path.absolute())
                client.log_artifacts(run_id, folder)
        if payload.status != RUNNING:
            client.set_terminated(run_id, payload.status, payload.end)
        elif run.info.status != RUNNING:
            client.update_run(run_id, RUNNING)
        return run_id

    def _remove(self, client: "MlflowClient", run: "Run", lines: list[str]) -> None:
        """Delete a duplicate run; if only its owner may do that, remove its tag `RUN_ID_TAG`."""
        number = run.info.run_id
        try:
            client.delete_run(number)
        except store_errors() as error:
            if _refusal(error) is None:
                raise
            client.set_terminated(number, KILLED)
            client.delete_tag(number, RUN_ID_TAG)
            lines.append(
                f"could not delete the duplicate run {number} of {run.data.tags[RUN_ID_TAG]}, which"
                f" another user owns; removed its tag {RUN_ID_TAG}"
            )

    def _log(self, client: "MlflowClient", run_id: str, payload: Payload) -> None:
        from mlflow.entities import Metric, Param, RunTag

        stamp = payload.end or payload.start
        metrics = [Metric(name, value, stamp, step) for name, value, step in payload.metrics]
        params = [Param(name, value) for name, value in payload.params.items()]
        tags = [
            RunTag(name, value.replace(RUN_ID_PLACEHOLDER, run_id))
            for name, value in payload.tags.items()
        ]
        # The server accepts at most 100 params, 100 tags and 1000 entries per request.
        client.log_batch(run_id, metrics[:800], params[:100], tags[:100])
        for start in range(100, max(len(params), len(tags)), 100):
            part = slice(start, start + 100)
            client.log_batch(run_id, params=params[part], tags=tags[part])
        for start in range(800, len(metrics), 1000):
            client.log_batch(run_id, metrics[start : start + 1000])

    def _experiment(self, client: "MlflowClient", name: str) -> str:
        from mlflow.exceptions import MlflowException

        experiment = client.get_experiment_by_name(name)
        if experiment is not None:
            if experiment.lifecycle_stage == "deleted":
                client.restore_experiment(experiment.experiment_id)
                self._messages.append(restored_message(name))
            return str(experiment.experiment_id)
        location = str(self.artifacts / slugify(name)) if self.artifacts else None
        try:
            return str(client.create_experiment(name, location))
        except MlflowException:  # another process has created it
            experiment = client.get_experiment_by_name(name)
            if experiment is None:
                raise
            return str(experiment.experiment_id)


def restored_message(experiment: str) -> str:
    """The line for a deleted experiment to which a run is logged again."""
    return f"restored the deleted MLflow experiment {experiment} with its runs"


def silence_mlflow() -> None:
    """Disable MLflow's telemetry, its log lines about migrations, and its own retries."""
    import logging

    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"  # see ClientTracker._with_retries
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def store_errors() -> tuple[type[Exception], ...]:
    """The exceptions that MLflow raises if a store does not answer or is not an MLflow store."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def _refusal(error: Exception) -> int | None:
    """The status code (400 to 499) with which a server rejected a request; a retry is useless."""
    from mlflow.exceptions import MlflowException

    response: Any = getattr(error, "response", None)  # of a request for an artifact
    status: Any = getattr(response, "status_code", None)
    if isinstance(error, MlflowException):
        mlflow_error: Any = error
        status = mlflow_error.get_http_status_code()
    return status if status is not None and 400 <= status < 500 else None


def _completeness_key(run: "Run") -> tuple[bool, int, str]:
    """The sort key of duplicate runs of a record; the first one is the most complete."""
    return run.info.status == RUNNING, -len(run.data.tags), run.info.run_id


def outputs_id(outputs: Path) -> str:
    """The id of an outputs folder, stored in it and kept if the folder is moved or copied."""
    path = outputs / ".id"
    with exclusive_lock(outputs / ".id.lock"):
        if not path.exists():
            write_text_atomic(path, uuid.uuid4().hex)
        return read_limited(path, 100).decode("utf-8").strip()


def unreachable(uri: str, error: Exception) -> TrackingUnavailableError:
    """The error for a store that does not answer, in one line and without a password."""
    line = " ".join(redact_credentials(str(error)).split())
    reason = line.rpartition("(Caused by ")[2]  # the error behind those of the HTTP library
    return TrackingUnavailableError(f"{redact_credentials(uri)}: {reason[:200]}")
