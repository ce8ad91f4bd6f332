"""`bythebook ui`: the MLflow UI on the project's own store, on loopback unless told otherwise."""

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

from experiments.commands import console
from experiments.commands.codes import OK, UNEXPECTED
from experiments.commands.server import QUIET, check_port, is_any, own_names
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.report.tracked import VIEW
from experiments.tracking import lifeline, ui_app
from experiments.tracking.figures import illustrate, latest
from experiments.tracking.local import LocalTracker
from experiments.tracking.studies import describe
from experiments.tracking.tracker import Forgiving

# The cells of sweeps would swamp the list: they hang below their parents.
RUNS = "searchFilter=" + urllib.parse.quote("tags.kind != 'cell'")


def main(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    outputs = writable(outputs_folder(options.outputs))
    check_port(options.host, options.port)
    tracker = LocalTracker(outputs)
    view = _view(tracker.database, options.study)
    tracker.create()
    for line in tracker.news():
        console.tell(line)
    describe(outputs, Forgiving(tracker, console.tell))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(OK))  # the server goes with us
    server = _start(tracker, outputs, options.host, options.port)
    address = f"http://{options.host}:{options.port}"
    try:
        while not _answers(f"{address}/health"):
            if server.poll() is not None:
                console.tell("the MLflow server stopped; its last words are above")
                return UNEXPECTED
            time.sleep(0.2)
        print(f"{address}/#/experiments{view}", flush=True)
        console.out.print("Ctrl-C stops the server")
        if not options.no_browser:
            webbrowser.open(f"{address}/#/experiments{view}")
        _illustrate(outputs, tracker)
        server.wait()
    except KeyboardInterrupt:
        console.out.print("stopped")
    finally:
        server.terminate()
        server.wait()
    return OK


def _illustrate(outputs: Path, tracker: LocalTracker) -> None:
    """While the first pages are read: figures for the runs that were logged without."""
    try:
        drawn = illustrate(latest(outputs), tracker, console.tell)
    except sqlite3.Error as error:
        console.tell(f"the figures could not be added: {error}")
        return
    if drawn:
        console.out.print(f"runs with new figures: {drawn} (reload the page to see them)")


def _view(database: Path, study: str | None) -> str:
    """The page to open: the list of studies, or one study's runs and sweeps."""
    if study is None:
        return f"?{VIEW}"
    known: dict[str, int] = {}
    if database.exists():
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            sql = "SELECT name, experiment_id FROM experiments WHERE lifecycle_stage = 'active'"
            known = dict(connection.execute(sql).fetchall())
    if study not in known:
        there = ", ".join(sorted(known)) or "none yet"
        raise BadInput(f"no runs of '{study}' are tracked; there are: {there}")
    return f"/{known[study]}/runs?{VIEW}&{RUNS}"


def _start(tracker: LocalTracker, outputs: Path, host: str, port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
    command += ["--backend-store-uri", tracker.uri, "--host", host, "--port", str(port)]
    command += ["--app-name", "bythebook"]  # experiments.tracking.ui_app
    command += ["--default-artifact-root", str(tracker.artifacts / "default")]
    command += ["--allowed-hosts", ",".join(_names(host, port))]
    alive = outputs / f".ui-{port}.alive"
    lifeline.hold(alive)
    own = {ui_app.DATABASE: str(tracker.database), lifeline.ALIVE: str(alive)}
    # One worker: with more, every request waits 40 ms for a delayed acknowledgement. A session of
    # its own: Ctrl-C is for us, who stop it without the traceback that it would leave.
    return subprocess.Popen(
        command,
        env={**os.environ, **QUIET, **own},
        cwd=outputs,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        start_new_session=True,
    )


def _names(host: str, port: int) -> list[str]:
    """What it is asked for under: loopback, unless `--host` says that this machine has others."""
    names = own_names(host, port)
    return [*names, f"{socket.gethostname()}:{port}"] if is_any(host) else names


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=1) as response:  # noqa: S310
            return bool(response.status == 200)
    except OSError:
        return False
