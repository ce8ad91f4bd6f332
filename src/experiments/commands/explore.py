"""`bythebook explore`: a page on this machine where knobs are moved and results follow."""

import argparse
import os
import signal
import sys
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from experiments.commands import console, performing, selecting
from experiments.commands.codes import OK
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder, writable
from experiments.configuration.schema import TRACKING
from experiments.contract.errors import BadInput
from experiments.explore.app import Site
from experiments.explore.serving import listening, serve, with_token
from experiments.explore.trials import Answer
from experiments.tracking.local import open_tracker
from experiments.tracking.tracker import Forgiving


def main(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    outputs = outputs_folder(options.outputs)
    names = selecting.results(options, outputs)
    if not names:
        raise BadInput("the selection holds no result")
    for flag, value in (("--seconds", options.seconds), ("--memory-gb", options.memory_gb)):
        if not 0 < value < 1e6:
            raise BadInput(f"{flag} {value:g} is not allowed; allowed: float, > 0")
    if options.tracking not in TRACKING:
        allowed = ", ".join(TRACKING)
        raise BadInput(f"--tracking {options.tracking} is not allowed; allowed: {allowed}")
    data = options.data or os.environ.get("BOOK_DATA") or None
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    open_tracker(options.tracking, uri, writable(outputs))  # or say what it lacks
    limits: dict[str, Any] = {"seconds": options.seconds, "memory_gb": options.memory_gb}
    where = (outputs, options.tracking, uri)
    site = Site(names, outputs, partial(keep, *where, limits), data, **limits)
    path = f"/result/{names[0]}" if len(names) == 1 else "/"

    def ready(address: str, token: str) -> None:
        opened = with_token(f"{address}{path}", token)
        console.out.print("Ctrl-C stops the server; the page is at")
        print(opened, flush=True)
        if not options.no_browser:
            webbrowser.open(opened)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(OK))  # after the server has stopped
    with suppress(KeyboardInterrupt):
        serve(site, listening(options.host, options.port), ready)
    return OK


def keep(outputs: Path, tracking: str, uri: str | None, limits: dict[str, Any], job: Job) -> Answer:
    """Record, draw and log a run as `bythebook run` does; called in a worker process."""
    told: list[str] = []
    tracker = open_tracker(tracking, uri, outputs)
    forgiving = Forgiving(tracker, told.append) if tracker is not None else None
    done, _ = performing.one(job, outputs, forgiving, tell=told.append, **limits)
    error = done.record["error"]
    return {
        "id": done.record.id,
        "computed": done.computed,
        "failed": f"{error['type']}: {error['message']}" if error else None,
        "told": told,
    }
