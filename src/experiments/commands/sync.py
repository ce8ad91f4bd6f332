"""`bythebook sync`: log what is recorded but not in the tracking store yet, each run once."""

import argparse
import os
import sqlite3
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from experiments.commands import console
from experiments.commands.codes import OK, UNEXPECTED
from experiments.commands.older import tell_of_damage, tell_of_older
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.records import run_files
from experiments.records.locks import is_free
from experiments.records.reading import is_older, read, told
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.records.told import Told
from experiments.sweeping.plan import Rows
from experiments.sweeping.run import AT_WORK, read_sweep
from experiments.sweeping.tracked import child_payloads, parent_payload
from experiments.tracking import figures
from experiments.tracking.local import open_tracker
from experiments.tracking.runs import JUDGED, KILLED, RUNNING, judged, payload, refreshed
from experiments.tracking.studies import describe
from experiments.tracking.tracker import Telling, Tracker, Unreachable

BATCH = 200
Folders = dict[str, Path]  # by the run's id


def main(options: argparse.Namespace) -> int:
    """Sweeps first, so that their cells find their parent; then everything else."""
    outputs = writable(outputs_folder(options.outputs))
    if options.tracking not in ("local", "server"):
        raise BadInput(f"--tracking {options.tracking}; allowed: local, server")
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    opened = open_tracker(options.tracking, uri, outputs)
    assert opened is not None
    tracker = Telling(opened, console.tell)
    store = RunStore(outputs)
    texts = store.runs.glob("*/*/[!.]*/run.json")  # no run in a pack is of an older format
    older = {path.parent for path in texts if is_older(path.parent)}
    folders = {path.name: path for path in store.folders() if path not in older}
    tell_of_older(store, ["*/*"])
    tell_of_damage(store)
    try:
        logged = tracker.logged()
        missing = {name: path for name, path in folders.items() if name not in logged}
        done = 0
        for path in sorted(outputs.glob("sweeps/*/sweep.json")):
            done += _sync_sweep(path.parent, tracker, logged, folders, missing)
        alone = list(missing.values())
        for start in range(0, len(alone), BATCH):
            records = _records(alone[start : start + BATCH])
            for record in records:
                run_files.ensure_tables(record)
            done += len(tracker.put([payload(record) for record in records]))
        bare = chain(figures.latest(outputs), alone)
        drawn = figures.illustrate(bare, tracker, console.tell)
        shown = tracker.tagged(JUDGED)
        judged_anew = [
            refreshed(record)
            for record in _records([f for f in figures.latest(outputs) if f.name in shown])
            if shown[record.id] != judged(record)
        ]
        if judged_anew:  # else the store would be read for nothing
            tracker.put(judged_anew)
        describe(outputs, tracker)
    except (Unreachable, sqlite3.Error) as error:
        console.tell(f"the store cannot be reached: {error}")
        return UNEXPECTED
    console.out.print(f"{done} runs logged, {len(logged)} were there already")
    if drawn:
        console.out.print(f"runs with new figures: {drawn}")
    return UNEXPECTED if tracker.refused else OK


def _sync_sweep(
    folder: Path, tracker: Tracker, logged: set[str], folders: Folders, missing: Folders
) -> int:
    """Log a sweep's missing cells below their parent; how many there were."""
    try:
        plan, state, runs = read_sweep(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        console.tell(f"the sweep {folder.name} cannot be read: {error}")
        return 0
    keys = plan.keys or [_key(run or "") for run in runs]
    places = {key: index for index, key in enumerate(keys) if key}
    own = {name: i for name in missing if (i := places.get(_key(name))) is not None}
    paths = [missing.pop(name) for name in own]
    if not is_free(folder / AT_WORK):
        console.tell(f"{plan.id} is still at work and logs its own cells")
        return 0
    if not own and plan.id in logged:
        return 0
    if state["status"] == RUNNING:  # it was killed before it could say so
        state |= {"status": KILLED, "finished": time.time()}
    recorded = {i: name for name in folders if (i := places.get(_key(name))) is not None}
    recorded |= {i: run for i, run in enumerate(runs) if run in folders}
    rows = Rows(len(plan))
    for index, name in recorded.items():
        for run, _ in _told([folders[name]]):
            rows.add(index, run)
    files = {file.name: file for file in folder.glob("[!.]*.*")}
    parent = tracker.put([parent_payload(plan, state, rows, files)]).get(plan.id)
    if parent is None:  # refused: its cells would hang below nothing
        return 0
    cells = [(places[_key(run.id)], run, path) for run, path in _told(paths)]
    return len(tracker.put(child_payloads(plan, cells, parent, ())))


def _key(run_id: str) -> str:
    return run_id.rpartition("-")[0]


def _told(paths: list[Path]) -> Iterator[tuple[Told, Path]]:
    """What is told of these runs, by where they are; a damaged record is told and stops nobody."""
    for path in paths:
        try:
            yield told(path), path
        except BadInput as error:
            console.tell(str(error))


def _records(paths: list[Path]) -> list[Record]:
    """What can be read of these; a damaged record is told and stops nobody."""
    found = []
    for path in paths:
        try:
            found.append(read(path))
        except BadInput as error:
            console.tell(str(error))
    return found
