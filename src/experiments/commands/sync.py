"""`bythebook sync`: log what is recorded but not in the tracking store yet, each run once."""

import argparse
import os

from experiments import artifacts, console
from experiments.cli import OK, UNEXPECTED
from experiments.errors import BadInput
from experiments.paths import outputs_folder
from experiments.records import Record, RunStore, read
from experiments.sweeps import Row, child_payloads, parent_payload, read_sweep
from experiments.tracking import Unreachable, open_tracker, payload

BATCH = 200


def main(options: argparse.Namespace) -> int:
    """Sweeps first, so that their cells find their parent; then everything else."""
    outputs = outputs_folder(options.outputs)
    if options.tracking not in ("local", "server"):
        raise BadInput(f"--tracking {options.tracking}; allowed: local, server")
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    tracker = open_tracker(options.tracking, uri, outputs)
    assert tracker is not None
    try:
        logged = tracker.logged()
        missing = {
            path.name: path for path in RunStore(outputs).folders() if path.name not in logged
        }
        total = len(missing)
        for path in sorted(outputs.glob("sweeps/*/sweep.json")):
            plan, state, runs = read_sweep(path.parent)
            cells = {i: read(missing.pop(run)) for i, run in enumerate(runs) if run in missing}
            if not cells and plan.id in logged:
                continue
            files = {file.name: file for file in path.parent.glob("[!.]*.*")}
            rows = {index: Row.of(record) for index, record in cells.items()}
            parent = tracker.put([parent_payload(plan, state, rows, files)])[plan.id]
            tracker.put(child_payloads(plan, cells, parent))
        waiting: list[Record] = []
        for path in missing.values():
            record = read(path)
            artifacts.ensure(record)
            waiting.append(record)
            if len(waiting) == BATCH:
                tracker.put([payload(entry) for entry in waiting])
                waiting = []
        tracker.put([payload(entry) for entry in waiting])
    except Unreachable as error:
        console.tell(f"the store cannot be reached: {error}")
        return UNEXPECTED
    console.out.print(f"{total} runs logged, {len(logged)} were there already")
    return OK
