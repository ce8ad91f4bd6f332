"""Helpers of the fault tests: commands in processes of their own, servers, counters."""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bythebook.experiments.cli.ui import QUIET
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import recorded_sweeps

FAULTS = Path(__file__).parent
PATIENCE = 600  # seconds; the machine may be busy
NO_CREDENTIALS = {"MLFLOW_TRACKING_USERNAME": "", "MLFLOW_TRACKING_PASSWORD": ""}
PAGE = FAULTS.parents[1] / "docs" / "server.md"
COUNTED = ("faults", "records", "lost", "duplicated", "tracebacks", "leaked processes")
COUNTS: Counter[str] = Counter()  # the last line of `make test-faults`
_COUNTING = threading.Lock()


def counted(what: str, number: int = 1) -> None:
    """Add to the counts of the last line; the users of a long test are threads."""
    with _COUNTING:
        COUNTS[what] += number


def command(outputs: Path, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    """`bythebook` in a process group of its own, with the study `misbehaving`."""
    return subprocess.Popen(
        [sys.executable, "-m", "bythebook", *arguments],
        env=_environment(outputs, variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _environment(outputs: Path, variables: dict[str, str]) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    own = {"PYTHONPATH": str(FAULTS), "BYTHEBOOK_OUTPUTS": str(outputs)}
    return {**inherited, **own, **variables}


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    out, err = process.communicate(timeout=PATIENCE)
    counted("tracebacks", "Traceback (most recent call last)" in err)
    return process.returncode, out, err


def run(outputs: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    return finish(command(outputs, *arguments, **variables))


def run_long(outputs: Path, arguments: list[str], **variables: str) -> tuple[int, str, str]:
    """Run a command whose arguments are too long for a command line of the system."""
    code = (
        "import json, sys; from bythebook.experiments.cli.main import main;"
        "sys.exit(main(json.load(sys.stdin)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(arguments),
        env=_environment(outputs, variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill the process group, like a power failure."""
    os.killpg(process.pid, signal.SIGKILL)
    counted("faults")
    process.communicate()


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.02)


def descendants(pid: int) -> set[int]:
    """The processes that a process and its children have started."""
    process = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
    pairs = [tuple(map(int, line.split())) for line in process.stdout.splitlines()]
    found = {pid}
    while more := {child for child, parent in pairs if parent in found} - found:
        found |= more
    return found - {pid}


def living(pids: set[int]) -> set[int]:
    """The processes that still run; a zombie does not."""
    process = subprocess.run(["ps", "-A", "-o", "pid=,stat="], capture_output=True, text=True)
    states = dict(line.split()[:2] for line in process.stdout.splitlines())
    return {pid for pid in pids if not states.get(str(pid), "Z").startswith("Z")}


def folders(outputs: Path) -> list[Path]:
    return list(RunStore(outputs).folders())


def outcomes(outputs: Path) -> dict[str, str]:
    """A digest of all numbers by key; two finished runs with a key are an error."""
    found: dict[str, str] = {}
    for path in folders(outputs):
        record = read_run(path)
        if not record.finished:
            continue
        if record["key"] in found:
            counted("duplicated")
            raise AssertionError(f"{record['key']} has two finished runs")
        content, large = record.outcome.to_json()
        arrays = {
            name: [array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest()]
            for name, array in large.items()
        }
        found[record["key"]] = dumps([content, arrays])
    return found


def logged(outputs: Path, kind: str) -> list[str]:
    """The record ids of all runs of a kind in the local store."""
    with closing(sqlite3.connect(outputs / "mlflow.db", timeout=PATIENCE)) as database:
        rows = database.execute(
            "SELECT value FROM tags WHERE key = 'bythebook.run_id' AND run_uuid IN"
            " (SELECT run_uuid FROM tags WHERE key = 'kind' AND value = ?)",
            [kind],
        ).fetchall()
    return sorted(value for (value,) in rows)


@dataclass
class Tracked:
    """The content of an MLflow store, read with MLflow's client."""

    uri: str

    def runs(self) -> list[Any]:
        from mlflow import MlflowClient

        client = MlflowClient(self.uri)
        experiments = [entry.experiment_id for entry in client.search_experiments()]
        return list(client.search_runs(experiments, max_results=10000))

    def check_against(self, outputs: Path, *, sweeps: int) -> None:
        """Check that each run is logged once below each of its sweeps, finished and complete."""
        records = {path.name: read_run(path) for path in folders(outputs)}
        identity = outputs / ".id"
        own = [
            run
            for run in self.runs()
            if not identity.exists()
            or run.data.tags.get("bythebook.outputs") == identity.read_text().strip()
        ]
        parents = {run.info.run_id: run for run in own if run.data.tags.get("kind") == "sweep"}
        cells = [run for run in own if run.data.tags.get("kind") == "cell"]
        assert len(own) == len(parents) + len(cells), "a run is neither sweep nor cell"
        assert len(parents) == sweeps
        assert {run.info.status for run in parents.values()} <= {"FINISHED"}
        times = Counter(_run_id(run) for run in cells)
        swept, problems = recorded_sweeps.read_all(outputs)
        assert not problems
        assert times == Counter(run for sweep in swept for run in sweep.runs if run is not None)
        assert times.keys() == records.keys()
        below = Counter(run.data.tags["mlflow.parentRunId"] for run in cells)
        assert sorted(below.values()) == sorted(len(sweep.runs) for sweep in swept)
        for run in cells:
            record = records[_run_id(run)]
            assert run.info.status == "FINISHED"
            assert run.data.tags["mlflow.parentRunId"] in parents
            assert run.data.metrics["value"] == record.metrics["value"]
            assert run.data.params["level"] == str(record["science"]["knobs"]["level"])


def _run_id(run: Any) -> str:
    """The record id of a cell; entries below further sweeps have the id of the sweep appended."""
    name: str = run.data.tags["bythebook.run_id"]
    return name.partition("@")[0]


def documented_command(port: int, store: str, artifacts: Path) -> list[str]:
    """`mlflow server` as docs/server.md starts it, with another port, database and folder."""
    (text,) = re.findall(r"```mlflow\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for old, new in (
        ("5000", str(port)),
        ("postgresql+psycopg://mlflow@127.0.0.1/mlflow", store),
        ("/srv/mlflow/artifacts", str(artifacts)),
        ("mlflow.example.org", "localhost"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    return [sys.executable, "-m", *text.split()]


@dataclass
class Server:
    """MLflow's server on a free port, with all its files in a folder."""

    folder: Path
    store: str | None = None  # the address of its database
    variables: dict[str, str] = field(default_factory=dict)
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def artifacts(self) -> Path:
        return self.folder / "artifacts"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def start(self) -> "Server":
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.port:
            self.port = free_port()
        store = self.store or f"sqlite:///{self.folder}/mlflow.db"
        start = documented_command(self.port, store, self.artifacts)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                start,
                cwd=self.folder,
                env={**os.environ, **QUIET, **self.variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def ready(self) -> "Server":
        assert self.process is not None
        running = self.process

        def answers() -> bool:
            assert running.poll() is None, self.log[-2000:]
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2) as response:
                    return bool(response.status == 200)
            except OSError:
                return False

        wait_for(answers)
        return self

    def ask(self, path: str, sent: object = None, **headers: str) -> tuple[int, str]:
        """Status and text of a response."""
        return ask(f"{self.uri}{path}", sent, **headers)

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        if self.process is not None:
            self.signal(signal.SIGKILL)
            counted("faults")
            self.process.wait(timeout=PATIENCE)
            self.process = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(
    address: str,
    sent: object = None,
    *,
    who: tuple[str, str] | None = None,
    method: str | None = None,
    trusted: ssl.SSLContext | None = None,
    **headers: str,
) -> tuple[int, str]:
    """Status and text of a response; the sent content is JSON unless it is bytes."""
    if who is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(":".join(who).encode()).decode()
    body = sent if isinstance(sent, bytes) or sent is None else json.dumps(sent).encode()
    headers.setdefault("Content-Type", "application/json")
    request = urllib.request.Request(address, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE, context=trusted) as response:
            return response.status, response.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")
