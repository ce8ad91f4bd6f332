"""`bythebook ui`: the MLflow UI for the project's own store, by default on loopback."""

import argparse
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import webbrowser
from contextlib import closing
from pathlib import Path

from bythebook.experiments.cli import console
from bythebook.experiments.cli.addresses import check_port, is_any, own_names
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.safe_path import SAFE_PATH
from bythebook.experiments.report.mlflow_links import MLFLOW_VIEW_QUERY
from bythebook.experiments.tracking import parent_watch, ui_app
from bythebook.experiments.tracking.experiment_tags import update_experiment_tags
from bythebook.experiments.tracking.images import latest_run_dirs, log_missing_figures
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # eight more processes, for language models
}
# The list shows sweeps, not their many cells, which are children of a sweep's run.
RUNS = "searchFilter=" + urllib.parse.quote("tags.kind != 'cell'")


def main(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    outputs = ensure_writable(resolve_output_dir(options.outputs))
    check_port(options.host, options.port)
    tracker = LocalTracker(outputs)
    view = _start_url(tracker.database, options.study)
    tracker.create_database()
    for line in tracker.pop_messages():
        console.notify(line)
    update_experiment_tags(outputs, FaultTolerantTracker(tracker, console.notify))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(OK))  # the server stops as well
    server = _start(tracker, outputs, options.host, options.port)
    address = f"http://{options.host}:{options.port}"
    try:
        while not _is_up(f"{address}/health"):
            if server.poll() is not None:
                console.notify("the MLflow server stopped; its error output is above")
                return UNEXPECTED
            time.sleep(0.2)
        print(f"{address}/#/experiments{view}", flush=True)
        console.out.print("Ctrl-C stops the server")
        if not options.no_browser:
            webbrowser.open(f"{address}/#/experiments{view}")
        _log_missing_figures(outputs, tracker)
        server.wait()
    except KeyboardInterrupt:
        console.out.print("stopped")
    finally:
        server.terminate()
        server.wait()
    return OK


def _log_missing_figures(outputs: Path, tracker: LocalTracker) -> None:
    """Draw and log the figures of runs that were logged without figures."""
    try:
        drawn = log_missing_figures(latest_run_dirs(outputs), tracker, console.notify)
    except sqlite3.Error as error:
        console.notify(f"could not log figures: {error}")
        return
    if drawn:
        console.out.print(f"runs with added figures: {drawn} (reload the page to see them)")


def _start_url(database: Path, study: str | None) -> str:
    """The page to open: the list of studies, or the runs and sweeps of one study."""
    if study is None:
        return f"?{MLFLOW_VIEW_QUERY}"
    known: dict[str, int] = {}
    if database.exists():
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            sql = "SELECT name, experiment_id FROM experiments WHERE lifecycle_stage = 'active'"
            known = dict(connection.execute(sql).fetchall())
    if study not in known:
        allowed = ", ".join(sorted(known)) or "none, no run is logged"
        raise InputError(f"there are no logged runs of '{study}'; allowed: {allowed}")
    return f"/{known[study]}/runs?{MLFLOW_VIEW_QUERY}&{RUNS}"


def _start(tracker: LocalTracker, outputs: Path, host: str, port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
    command += ["--backend-store-uri", tracker.uri, "--host", host, "--port", str(port)]
    command += ["--app-name", "bythebook"]  # bythebook.experiments.tracking.ui_app
    command += ["--default-artifact-root", str(tracker.artifacts / "default")]
    command += ["--allowed-hosts", ",".join(_names(host, port))]
    alive = outputs / f".ui-{port}.alive"
    parent_watch.hold_lock(alive)
    own = {ui_app.DATABASE: str(tracker.database), parent_watch.LOCK_ENV: str(alive)}
    # With more than one worker, every request waits 40 ms for a delayed acknowledgement. In its own
    # session the server gets no Ctrl-C, on which it would print a traceback; this process stops it.
    return subprocess.Popen(
        command,
        env={**os.environ, **SAFE_PATH, **QUIET, **own},
        cwd=sys.prefix,  # uvicorn imports from the current folder, which others may write
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
    )


def _names(host: str, port: int) -> list[str]:
    """The host names of the server: loopback, or with a wildcard `--host` also the machine's."""
    names = own_names(host, port)
    return [*names, f"{socket.gethostname()}:{port}"] if is_any(host) else names


def _is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=1) as response:  # noqa: S310
            return bool(response.status == 200)
    except OSError:
        return False
