"""Run a sweep: many runs over knob values, with one folder and one MLflow parent run.

The id of a sweep is a digest of its cells. If the same command is issued again, recorded runs are
reused, missing ones are computed, and the parent run is updated.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import LazyJobs, RunLocation
from bythebook.experiments.config.paths import ensure_writable
from bythebook.experiments.core import atomic_files
from bythebook.experiments.core.atomic_files import write_atomic, write_text_atomic
from bythebook.experiments.core.exact_json import loads
from bythebook.experiments.execution.launchers import Launcher
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.runner import CompletedRun, run_jobs
from bythebook.experiments.store.locking import shared_lock
from bythebook.experiments.store.run_json import to_json_lines
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps.figures import save_sweep_figures
from bythebook.experiments.sweeps.grid import SweepGrid
from bythebook.experiments.sweeps.payload import (
    LoggedCells,
    cell_payloads,
    common_params,
    parent_payload,
)
from bythebook.experiments.sweeps.plan import SweepCell, SweepPlan, SweepTable, columns_from_cells
from bythebook.experiments.sweeps.tables import cells_frame, means_frame, metric_names
from bythebook.experiments.tracking.payload import FAILED, FINISHED, KILLED, RUNNING
from bythebook.experiments.tracking.tracker import Tracker

FLUSH_SECONDS, FLUSH_CELLS = 2.0, 2000
MAX_FILE_BYTES = 2**30  # of `sweep.json`
LOCK_NAME = ".at-work"  # a lock file in the sweep's folder, held while a process runs the sweep


def run_sweep(
    cells: Sequence[SweepCell],
    plan: SweepPlan,
    outputs: Path,
    tracker: Tracker | None,
    launcher: Launcher,
    *,
    on_done: Callable[[CompletedRun], None],
    tags: Mapping[str, str] | None = None,
    **options: Any,
) -> SweepTable:
    """Run the missing cells; tables, figure and the parent run are also updated after an error."""
    folder = ensure_writable(outputs, "sweeps", plan.id)
    state: dict[str, Any] = {"started": time.time(), "status": RUNNING, **collect_environment()}
    state["tags"] = {**_tags(folder), **(tags or {})}
    state["shared"] = common_params(plan, cells[0].job)
    RunStore(outputs).remove_stale_temp_dirs()
    with shared_lock(folder / LOCK_NAME):
        if not (folder / "sweep.json").exists():
            # `sync` needs it to assign the runs if this process is killed.
            save_sweep(plan, state, SweepTable(len(plan)), folder)
        parent = _ParentRun(plan, state, tracker)
        rows = SweepTable(len(plan))
        status = KILLED
        try:
            options["metric"] = plan.metric
            with closing(run_jobs(CellJobs(cells), outputs, launcher, **options)) as completed:
                for done in completed:
                    rows.add(done.index, done.summary, plan.metric)
                    parent.add(done)
                    on_done(done)
            status = FAILED if rows.errors else FINISHED
        finally:
            state |= {"status": status, "finished": time.time()}
            parent.flush()
            if parent.logged_anything or not _is_up_to_date(folder, plan, rows, state["tags"]):
                parent.close(rows, folder)
    return rows


def _is_up_to_date(
    folder: Path, plan: SweepPlan, rows: SweepTable, tags: Mapping[str, str]
) -> bool:
    """Whether the folder holds this sweep, finished, with these runs, metric and tags."""
    try:
        stored, state, runs = load_sweep(folder)
    except (OSError, ValueError):
        return False
    same = runs == rows.runs and stored.metric == plan.metric
    return same and state["status"] == FINISHED and state.get("tags", {}) == tags


def _tags(folder: Path) -> dict[str, str]:
    """The tags of a sweep that is recorded already."""
    try:
        tags: dict[str, str] = load_sweep(folder)[1].get("tags", {})
    except (OSError, ValueError):
        return {}
    return tags


class CellJobs(LazyJobs):
    """The jobs of the cells, created on demand."""

    def __init__(self, cells: Sequence[SweepCell]) -> None:
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: Any) -> Any:
        return self.cells[index].job

    def locations(self) -> Iterator[RunLocation]:
        if isinstance(self.cells, SweepGrid):
            return self.cells.locations()
        return (cell.job.location for cell in self.cells)


class _ParentRun:
    """The MLflow run of the sweep, and the completed runs to be logged as its children."""

    def __init__(self, plan: SweepPlan, state: dict[str, Any], tracker: Tracker | None) -> None:
        self.plan, self.state, self.tracker = plan, state, tracker
        self.logged = LoggedCells(plan, tracker)
        self.run_id: str | None = None
        self.waiting: list[CompletedRun] = []
        self.flushed = time.monotonic()
        # If all cells are recorded and logged, the store is read once and not written.
        self.logged_anything = tracker is not None and not tracker.find_logged([plan.id])

    def add(self, done: CompletedRun) -> None:
        if self.tracker is None or done.summary.id in self.logged:
            return
        self.waiting.append(done)
        if len(self.waiting) >= FLUSH_CELLS or time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self.tracker is not None and self.waiting:
            if self.run_id is None:
                nothing = SweepTable(len(self.plan))
                begun = self.tracker.log_runs([parent_payload(self.plan, self.state, nothing, {})])
                self.run_id = begun.get(self.plan.id)
            cells = [(done.index, done.summary, done.stored_run.folder) for done in self.waiting]
            names = [done.summary.id for done in self.waiting]
            there = self.logged.logged_under_other_parent(names)
            self.tracker.log_runs(cell_payloads(self.plan, cells, self.run_id, there))
            # Another sweep may have logged a run between the two requests.
            late = self.logged.logged_under_other_parent(names) - there
            if late:
                missed = [cell for cell in cells if cell[1].id in late]
                self.tracker.log_runs(cell_payloads(self.plan, missed, self.run_id, late))
            self.logged_anything = True
        self.waiting, self.flushed = [], time.monotonic()

    def close(self, rows: SweepTable, folder: Path) -> None:
        """Write tables and figure, and log the status even if the disk is full."""
        files: dict[str, Path] = {}
        try:
            files = save_sweep(self.plan, self.state, rows, folder)
        finally:
            if self.tracker is not None:
                self.tracker.log_runs([parent_payload(self.plan, self.state, rows, files)])


def save_sweep(
    plan: SweepPlan, state: dict[str, Any], rows: SweepTable, folder: Path
) -> dict[str, Path]:
    """Write the plan with its runs, the table of runs, the means and the figure atomically."""
    files: dict[str, Path] = {}
    if rows:
        table = cells_frame(plan, rows)
        files["cells.csv"] = write_atomic(folder / "cells.csv", partial(table.to_csv, index=False))
        if metric_names(table, plan):
            means = means_frame(plan, table)
            files["pivot.csv"] = write_atomic(
                folder / "pivot.csv", partial(means.to_csv, index=False)
            )
            files |= save_sweep_figures(plan, table, means, folder)
    text = to_json_lines({**vars(plan), "runs": rows.runs, "state": state})
    files["sweep.json"] = write_text_atomic(folder / "sweep.json", text)
    return files


def load_sweep(folder: Path) -> tuple[SweepPlan, dict[str, Any], list[str | None]]:
    """Read a recorded sweep: its plan, its state, and the id of each cell's run."""
    content = loads(atomic_files.read_limited(folder / "sweep.json", MAX_FILE_BYTES).decode())
    try:
        runs, state = content.pop("runs"), content.pop("state")
        if isinstance(content["swept"], list):  # the older format: one mapping per cell
            content["swept"] = columns_from_cells(content["swept"])
        plan = SweepPlan(**content)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"not a sweep: {error}") from error
    for line in [*plan.problems(), *_problems(plan, state, runs)]:
        raise ValueError(line)
    return plan, state, runs


def _problems(plan: SweepPlan, state: Any, runs: Any) -> Iterator[str]:
    """The problems of a sweep that was read from a file, which anybody may have edited."""
    if not isinstance(runs, list) or len(runs) != len(plan):
        yield "the number of runs differs from the number of cells"
    elif not all(run is None or isinstance(run, str) for run in runs):
        yield "the ids of the runs must be text"
    texts = ("status", "user", "command")
    if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in texts):
        yield "its state is incomplete: status, user and command must be text"
        return
    started, tags, git = state.get("started"), state.get("tags", {}), state.get("git")
    if not isinstance(started, int | float) or not 0 <= started <= 1e11:
        yield "its start time is invalid"
    if not isinstance(tags, dict) or not all(isinstance(tag, str) for tag in tags.values()):
        yield "its tags must be text"
    if not isinstance(git, dict) or not {"commit", "dirty"} <= git.keys():
        yield "its state is incomplete: git must have commit and dirty"
    shared = state.get("shared", {"params": {}, "tags": {}})
    parts = [shared.get(name) for name in ("params", "tags")] if isinstance(shared, dict) else [0]
    for part in parts:
        if not isinstance(part, dict) or not all(isinstance(v, str) for v in part.values()):
            yield "the shared params and tags of its cells must be text"
