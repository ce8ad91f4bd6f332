"""Any MLflow store through its public client: recorded runs, each exactly once.

The record on disk is the truth and MLflow is a view of it, made from the record alone. Every run
there carries the record's id in the tag `bythebook.run_id`; what is already there is not logged
again, and what an interruption left RUNNING is completed. So logging can be repeated at any time.
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

from experiments.configuration.passwords import redacted
from experiments.contract.slugs import slug
from experiments.contract.whole import content, replaced_text
from experiments.records.locks import exclusive
from experiments.tracking.runs import KILLED, MLFLOW_ID, RUN_ID, RUNNING, Payload
from experiments.tracking.tracker import Refused, Tracker, Unreachable

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

T = TypeVar("T")
OUTPUTS = "bythebook.outputs"  # the folder a run comes from, where several share a server
PAUSES = (1.0, 4.0)  # seconds, before a server is asked again
NOBODY = (401, 429)  # refusals of whoever asks, not of what is asked


class ClientTracker(Tracker):
    """Any MLflow store through its public client: one call to create, one batch, one to finish.

    A server holds the runs of many outputs folders, and its interface cannot look and write in one
    step: there, a run is known by its folder and its record, and the processes that share a folder
    take turns.
    """

    def __init__(self, uri: str, artifacts: Path | None, outputs: Path | None = None) -> None:
        self.uri = uri
        self.artifacts = artifacts
        self.own = {} if outputs is None else {OUTPUTS: identity(outputs)}
        self.lock = outputs / ".server.lock" if outputs is not None else None
        self._news: list[str] = []
        quiet()

    def news(self) -> list[str]:
        told, self._news = self._news, []
        return told

    @property
    def client(self) -> "MlflowClient":
        from mlflow import MlflowClient

        return MlflowClient(self.uri)

    def put(self, payloads: Sequence[Payload]) -> dict[str, str]:
        taken: dict[str, str] = {}
        lines: list[str] = []
        with exclusive(self.lock) if self.lock else nullcontext():
            for payload in payloads:
                try:
                    put = partial(self._put, payload=payload, lines=lines)
                    taken[payload.record_id] = self._insist(put)
                except Refused as refused:
                    lines.append(f"{payload.record_id} is not tracked ({refused})")
        if lines:
            raise Refused(lines, taken)
        return taken

    def tagged(self, tag: str) -> dict[str, str]:
        return self._insist(partial(self._tagged, tag=tag))

    def experiments(self) -> dict[str, dict[str, str]]:
        found = self._insist(lambda client: client.search_experiments())
        return {entry.name: dict(entry.tags) for entry in found}

    def describe(self, tags: Mapping[str, Mapping[str, str]]) -> None:
        lines = []
        for name, values in tags.items():
            try:
                self._insist(partial(self._describe, name=name, tags=values))
            except Refused as refused:
                lines.append(f"the study {name} is not described ({refused})")
        if lines:
            raise Refused(lines)

    def _describe(self, client: "MlflowClient", name: str, tags: Mapping[str, str]) -> None:
        found = client.get_experiment_by_name(name)
        if found is not None:
            for key, value in tags.items():
                client.set_experiment_tag(found.experiment_id, key, value)

    def _insist(self, action: "Callable[[MlflowClient], T]") -> T:
        """Try again after a pause. Each action looks before it writes, so none is done twice;

        a single request that is sent again, as MLflow would do, creates a second run when the
        first was only answered too late.
        """
        for pause in (*PAUSES, None) if self.uri.startswith("http") else (None,):
            try:
                return action(self.client)
            except store_errors() as error:
                if _refusal(error) is not None and _refusal(error) not in NOBODY:
                    raise Refused([str(unreachable(self.uri, error))]) from error
                if pause is None or _refusal(error) is not None:
                    raise unreachable(self.uri, error) from error
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _tagged(self, client: "MlflowClient", tag: str) -> dict[str, str]:
        experiments = [e.experiment_id for e in client.search_experiments()]
        states: dict[str, list[tuple[str, str]]] = {}
        token = None
        while True:
            page = client.search_runs(experiments, self._mine(), max_results=1000, page_token=token)
            for run in page:
                if RUN_ID in run.data.tags and tag in run.data.tags:
                    state = run.info.status, run.data.tags[tag]
                    states.setdefault(run.data.tags[RUN_ID], []).append(state)
            token = page.token
            if not token:
                return {
                    name: found[0][1]
                    for name, found in states.items()
                    if len(found) == 1 and found[0][0] != RUNNING
                }

    def _mine(self, **tags: str) -> str:
        wanted = {**self.own, **tags}
        return " and ".join(f"tags.`{name}` = '{value}'" for name, value in wanted.items())

    def _put(self, client: "MlflowClient", payload: Payload, lines: list[str]) -> str:
        experiment = self._experiment(client, payload.experiment)
        tags = {RUN_ID: payload.record_id}
        found = sorted(client.search_runs([experiment], self._mine(**tags)), key=_emptiness)
        for other in found[1:]:  # created by a request that was answered too late
            self._remove(client, other, lines)
        run = found[0] if found else None
        if run is not None and run.info.status != RUNNING and not payload.update:
            return str(run.info.run_id)
        if run is None:
            run = client.create_run(experiment, payload.start, {**self.own, **tags}, payload.name)
        run_id = str(run.info.run_id)
        # What a sweep was called with may differ when it is resumed; a param cannot be changed.
        params = {k: v for k, v in payload.params.items() if k not in run.data.params}
        self._log(client, run_id, replace(payload, params=params))
        if payload.artifacts:
            with tempfile.TemporaryDirectory() as folder:
                for name, path in payload.artifacts.items():
                    place = Path(folder) / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to(path.absolute())
                client.log_artifacts(run_id, folder)
        if payload.status != RUNNING:
            client.set_terminated(run_id, payload.status, payload.end)
        elif run.info.status != RUNNING:
            client.update_run(run_id, RUNNING)
        return run_id

    def _remove(self, client: "MlflowClient", run: "Run", lines: list[str]) -> None:
        """Delete a run that should not be there; where only its owner may, it loses its name."""
        number = run.info.run_id
        try:
            client.delete_run(number)
        except store_errors() as error:
            if _refusal(error) is None:
                raise
            client.set_terminated(number, KILLED)
            client.delete_tag(number, RUN_ID)
            lines.append(
                f"a second run of {run.data.tags[RUN_ID]} may only be deleted by its owner:"
                f" {number} is left there, without its name"
            )

    def _log(self, client: "MlflowClient", run_id: str, payload: Payload) -> None:
        from mlflow.entities import Metric, Param, RunTag

        stamp = payload.end or payload.start
        metrics = [Metric(name, value, stamp, step) for name, value, step in payload.metrics]
        params = [Param(name, value) for name, value in payload.params.items()]
        tags = [
            RunTag(name, value.replace(MLFLOW_ID, run_id)) for name, value in payload.tags.items()
        ]
        # The server takes at most 100 params, 100 tags and 1000 entries of all kinds at once.
        client.log_batch(run_id, metrics[:800], params[:100], tags[:100])
        for start in range(100, max(len(params), len(tags)), 100):
            part = slice(start, start + 100)
            client.log_batch(run_id, params=params[part], tags=tags[part])
        for start in range(800, len(metrics), 1000):
            client.log_batch(run_id, metrics[start : start + 1000])

    def _experiment(self, client: "MlflowClient", name: str) -> str:
        from mlflow.exceptions import MlflowException

        found = client.get_experiment_by_name(name)
        if found is not None:
            if found.lifecycle_stage == "deleted":
                client.restore_experiment(found.experiment_id)
                self._news.append(restored(name))
            return str(found.experiment_id)
        place = str(self.artifacts / slug(name)) if self.artifacts else None
        try:
            return str(client.create_experiment(name, place))
        except MlflowException:  # someone else was faster
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
            return str(found.experiment_id)


def restored(experiment: str) -> str:
    """The line for an experiment that somebody deleted, and that is needed again."""
    return f"the MLflow experiment {experiment} had been deleted: it is restored, with its runs"


def quiet() -> None:
    """MLflow without telemetry, migration chatter, or a retry loop of minutes."""
    import logging

    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"  # see ClientTracker._insist
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)


def store_errors() -> tuple[type[Exception], ...]:
    """What MLflow raises when a store does not answer, or is not one."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def _refusal(error: Exception) -> int | None:
    """The status with which a server understood and did not want to: no use to ask again."""
    from mlflow.exceptions import MlflowException

    answer: Any = getattr(error, "response", None)  # of an artifact's own request
    status: Any = getattr(answer, "status_code", None)
    if isinstance(error, MlflowException):
        told: Any = error
        status = told.get_http_status_code()
    return status if status is not None and 400 <= status < 500 else None


def _emptiness(run: "Run") -> tuple[bool, int, str]:
    """Of several runs of one record the first in this order is the one that was worked on."""
    return run.info.status == RUNNING, -len(run.data.tags), run.info.run_id


def identity(outputs: Path) -> str:
    """A name for the outputs folder that stays with it wherever it is moved or copied."""
    path = outputs / ".id"
    with exclusive(outputs / ".id.lock"):
        if not path.exists():
            replaced_text(path, uuid.uuid4().hex)
        return content(path, 100).decode("utf-8").strip()


def unreachable(uri: str, error: Exception) -> Unreachable:
    """What is told of a store that does not answer, without its password."""
    told = " ".join(redacted(str(error)).split())
    reason = told.rpartition("(Caused by ")[2]  # what the layers in between have made of it
    return Unreachable(f"{redacted(uri)}: {reason[:200]}")
