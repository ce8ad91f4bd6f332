"""`bythebook sync`: log recorded runs that are not in the tracking store yet, each once."""

import argparse
import os
import sqlite3
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.cli.outdated_runs import warn_corrupt_files, warn_outdated_runs
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.locking import is_unlocked
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import has_older_format, load_summary, read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.run_summary import RunSummary
from bythebook.experiments.sweeps.payload import cell_payloads, parent_payload
from bythebook.experiments.sweeps.plan import SweepTable
from bythebook.experiments.sweeps.run import LOCK_NAME, load_sweep
from bythebook.experiments.tracking import images
from bythebook.experiments.tracking.equation_runs import log_equations
from bythebook.experiments.tracking.experiment_tags import update_experiment_tags
from bythebook.experiments.tracking.local import make_tracker
from bythebook.experiments.tracking.payload import (
    KILLED,
    RUNNING,
    VERDICT_DIGEST_TAG,
    run_payload,
    verdict_digest,
    verdict_update,
)
from bythebook.experiments.tracking.tracker import (
    ReportingTracker,
    Tracker,
    TrackingUnavailableError,
)

BATCH_SIZE = 200  # runs that are logged together
Folders = dict[str, Path]  # by run id


def main(options: argparse.Namespace) -> int:
    """Log sweeps first, so that their runs get their parent, then all other runs."""
    outputs = ensure_writable(resolve_output_dir(options.outputs))
    if options.tracking not in ("local", "server"):
        raise InputError(f"--tracking {options.tracking} is not allowed; allowed: local, server")
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    opened = make_tracker(options.tracking, uri, outputs)
    assert opened is not None
    tracker = ReportingTracker(opened, console.notify)
    store = RunStore(outputs)
    texts = store.runs.glob("*/*/[!.]*/run.json")  # runs in packs have the current format
    older = {path.parent for path in texts if has_older_format(path.parent)}
    folders = {path.name: path for path in store.folders() if path not in older}
    warn_outdated_runs(store, ["*/*"])
    warn_corrupt_files(store)
    try:
        logged = tracker.logged_ids()
        missing = {name: path for name, path in folders.items() if name not in logged}
        done = 0
        for path in sorted(outputs.glob("sweeps/*/sweep.json")):
            done += _sync_sweep(path.parent, tracker, logged, folders, missing)
        single = list(missing.values())
        for start in range(0, len(single), BATCH_SIZE):
            records = _read_records(single[start : start + BATCH_SIZE])
            for record in records:
                artifacts.ensure_tables(record)
            done += len(tracker.log_runs([run_payload(record) for record in records]))
        with_figures = chain(images.latest_run_dirs(outputs), single)
        drawn = images.log_missing_figures(with_figures, tracker, console.notify)
        digests = tracker.run_tags(VERDICT_DIGEST_TAG)
        newest = [path for path in images.latest_run_dirs(outputs) if path.name in digests]
        updates = [
            verdict_update(record)
            for record in _read_records(newest)
            if digests[record.id] != verdict_digest(record)
        ]
        if updates:  # an empty call would read the store
            tracker.log_runs(updates)
        done += log_equations(outputs, tracker, digests)
        update_experiment_tags(outputs, tracker)
    except (TrackingUnavailableError, sqlite3.Error) as error:
        console.notify(f"the tracking store is unavailable: {error}")
        return UNEXPECTED
    console.out.print(f"{done} runs logged, {len(logged)} already present")
    if drawn:
        console.out.print(f"runs with added figures: {drawn}")
    return UNEXPECTED if tracker.rejected else OK


def _sync_sweep(
    folder: Path, tracker: Tracker, logged: set[str], folders: Folders, missing: Folders
) -> int:
    """Log the missing runs of a sweep below their parent; return their number."""
    try:
        plan, state, runs = load_sweep(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        console.notify(f"could not read the sweep {folder.name}: {error}")
        return 0
    keys = plan.keys or [_job_key(run or "") for run in runs]
    index_by_key = {key: index for index, key in enumerate(keys) if key}
    own = [name for name in missing if _job_key(name) in index_by_key]
    paths = [missing.pop(name) for name in own]
    if not is_unlocked(folder / LOCK_NAME):
        console.notify(f"{plan.id} is still running and logs its own runs; skipped")
        return 0
    if not own and plan.id in logged:
        return 0
    if state["status"] == RUNNING:  # it was killed before it could record its status
        state |= {"status": KILLED, "finished": time.time()}
    recorded = {
        index_by_key[key]: name for name in folders if (key := _job_key(name)) in index_by_key
    }
    recorded |= {i: run for i, run in enumerate(runs) if run in folders}
    rows = SweepTable(len(plan))
    for index, name in recorded.items():
        for summary, _ in _read_summaries([folders[name]]):
            rows.add(index, summary)
    files = {file.name: file for file in folder.glob("[!.]*.*")}
    parent = tracker.log_runs([parent_payload(plan, state, rows, files)]).get(plan.id)
    if parent is None:  # the store rejected it, so its runs would have no parent
        return 0
    cells = [
        (index_by_key[_job_key(summary.id)], summary, path)
        for summary, path in _read_summaries(paths)
    ]
    return len(tracker.log_runs(cell_payloads(plan, cells, parent, ())))


def _job_key(run_id: str) -> str:
    """The key of a run's job: the run id without its number."""
    return run_id.rpartition("-")[0]


def _read_summaries(paths: list[Path]) -> Iterator[tuple[RunSummary, Path]]:
    """The summaries of these runs with their folders; a corrupt record is reported and skipped."""
    for path in paths:
        try:
            yield load_summary(path), path
        except InputError as error:
            console.notify(str(error))


def _read_records(paths: list[Path]) -> list[Record]:
    """The records in these folders; a corrupt record is reported and skipped."""
    records = []
    for path in paths:
        try:
            records.append(read_run(path))
        except InputError as error:
            console.notify(str(error))
    return records
