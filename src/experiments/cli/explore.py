"""`bythebook explore`: a local page on which the knobs of results can be changed."""

import argparse
import os
import signal
import sys
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from bythebook.experiments.api import pipeline, selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config.catalogue import EQUATIONS, load_heading
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.schema import TRACKING
from bythebook.experiments.config.validation import check_parameters
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.explore.app import ExploreConfig
from bythebook.experiments.explore.runs import RunResponse
from bythebook.experiments.explore.serving import bind_socket, serve, url_with_token
from bythebook.experiments.tracking.local import make_tracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker


def main(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    outputs = resolve_output_dir(options.outputs)
    names = selections.select_results(options.selection, options.search, outputs)
    if not names:
        raise InputError("the selection contains no results; `bythebook list` shows all")
    if len(names) == 1:
        check_parameters(names[0])
    names = [name for name in names if load_heading(name).study != EQUATIONS]
    for flag, value in (("--timeout", options.timeout), ("--memory-gb", options.memory_gb)):
        if not 0 < value < 1e6:
            raise InputError(f"{flag} {value:g} is not allowed; allowed: float > 0")
    if options.tracking not in TRACKING:
        allowed = ", ".join(TRACKING)
        raise InputError(f"--tracking {options.tracking} is not allowed; allowed: {allowed}")
    data = options.data_dir or data_dir_from_environment()
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    make_tracker(options.tracking, uri, ensure_writable(outputs))  # check the options
    limits: dict[str, Any] = {"timeout": options.timeout, "memory_gb": options.memory_gb}
    save_run = partial(save, outputs, options.tracking, uri, limits)
    config = ExploreConfig(names, outputs, save_run, data, **limits)
    path = f"/result/{names[0]}" if len(names) == 1 else "/"

    def ready(address: str, token: str) -> None:
        url = url_with_token(f"{address}{path}", token)
        console.out.print("Ctrl-C stops the server; the address of the page is")
        print(url, flush=True)
        if not options.no_browser:
            webbrowser.open(url)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(OK))  # after the server has stopped
    with suppress(KeyboardInterrupt):
        serve(config, bind_socket(options.host, options.port), ready)
    return OK


def save(
    outputs: Path, tracking: str, uri: str | None, limits: dict[str, Any], job: Job
) -> RunResponse:
    """Record, draw and log a run like `bythebook run`; called in a worker process."""
    messages: list[str] = []
    tracker = make_tracker(tracking, uri, outputs)
    tolerant = FaultTolerantTracker(tracker, messages.append) if tracker is not None else None
    done, _ = pipeline.run_one(job, outputs, tolerant, notify=messages.append, **limits)
    error = done.record["error"]
    return {
        "id": done.record.id,
        "computed": done.computed,
        "failed": f"{error['type']}: {error['message']}" if error else None,
        "messages": messages,
    }
