"""Sweeps: many runs over knob values, one folder and one MLflow parent for all of them.

A sweep is named by what its cells are, so issuing it again finds it again: cells that are done are
found, those that are missing are run, and the parent is brought up to date.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Address, Addressed
from experiments.configuration.paths import writable
from experiments.contract import whole
from experiments.contract.exact_json import loads
from experiments.contract.whole import replaced, replaced_text
from experiments.records.locks import shared
from experiments.records.seal import lines
from experiments.records.store import RunStore
from experiments.running.launchers import Launcher
from experiments.running.provenance import environment
from experiments.running.runner import Done, perform_all
from experiments.sweeping.expand import Grid
from experiments.sweeping.figure import draw_sweep
from experiments.sweeping.plan import Cell, Plan, Rows, columns
from experiments.sweeping.tables import long_table, metric_names, pivot_table
from experiments.sweeping.tracked import Logged, child_payloads, parent_payload
from experiments.sweeping.tracked import shared as shared_by_all
from experiments.tracking.runs import (
    FAILED,
    FINISHED,
    KILLED,
    RUNNING,
)
from experiments.tracking.tracker import Tracker

FLUSH_SECONDS, FLUSH_CELLS = 2.0, 2000
LARGEST = 2**30  # bytes of a recorded sweep
AT_WORK = ".at-work"  # a lock that a sweep's folder has while someone runs it


def run_sweep(
    cells: Sequence[Cell],
    plan: Plan,
    outputs: Path,
    tracker: Tracker | None,
    launcher: Launcher,
    *,
    on_done: Callable[[Done], None],
    tags: Mapping[str, str] | None = None,
    **options: Any,
) -> Rows:
    """Run a sweep's missing cells; tables, figure and the parent's last word whatever happened."""
    folder = writable(outputs, "sweeps", plan.id)
    state: dict[str, Any] = {"started": time.time(), "status": RUNNING, **environment()}
    state["tags"] = {**_tags(folder), **(tags or {})}
    state["shared"] = shared_by_all(plan, cells[0].job)
    RunStore(outputs).sweep_leftovers()
    with shared(folder / AT_WORK):
        if not (folder / "sweep.json").exists():
            write(
                plan, state, Rows(len(plan)), folder
            )  # if we are killed, `sync` knows whose the cells are
        parent = _Parent(plan, state, tracker)
        rows = Rows(len(plan))
        status = KILLED
        try:
            options["metric"] = plan.metric
            with closing(perform_all(Jobs(cells), outputs, launcher, **options)) as performed:
                for done in performed:
                    rows.add(done.index, done.told, plan.metric)
                    parent.add(done)
                    on_done(done)
            status = FAILED if rows.errors else FINISHED
        finally:
            state |= {"status": status, "finished": time.time()}
            parent.flush()
            if parent.logged_anything or not _is_written(folder, plan, rows, state["tags"]):
                parent.close(rows, folder)
    return rows


def _is_written(folder: Path, plan: Plan, rows: Rows, tags: Mapping[str, str]) -> bool:
    """Is this very sweep, finished with these runs and drawn so, what the folder holds?"""
    try:
        there, state, runs = read_sweep(folder)
    except (OSError, ValueError):
        return False
    same = runs == rows.runs and there.metric == plan.metric
    return same and state["status"] == FINISHED and state.get("tags", {}) == tags


def _tags(folder: Path) -> dict[str, str]:
    """The tags that a sweep has already."""
    try:
        found: dict[str, str] = read_sweep(folder)[1].get("tags", {})
    except (OSError, ValueError):
        return {}
    return found


class Jobs(Addressed):
    """The jobs of cells that are made when they are asked for."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: Any) -> Any:
        return self.cells[index].job

    def addresses(self) -> Iterator[Address]:
        if isinstance(self.cells, Grid):
            return self.cells.addresses()
        return (cell.job.address for cell in self.cells)


class _Parent:
    """The sweep's own MLflow run, and the children waiting to be logged under it."""

    def __init__(self, plan: Plan, state: dict[str, Any], tracker: Tracker | None) -> None:
        self.plan, self.state, self.tracker = plan, state, tracker
        self.logged = Logged(plan, tracker)
        self.run_id: str | None = None
        self.waiting: list[Done] = []
        self.flushed = time.monotonic()
        # A sweep whose cells are all found and logged costs the store one look and no write.
        self.logged_anything = tracker is not None and not tracker.among([plan.id])

    def add(self, done: Done) -> None:
        if self.tracker is None or done.told.id in self.logged:
            return
        self.waiting.append(done)
        if len(self.waiting) >= FLUSH_CELLS or time.monotonic() - self.flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self.tracker is not None and self.waiting:
            if self.run_id is None:
                nothing = Rows(len(self.plan))
                begun = self.tracker.put([parent_payload(self.plan, self.state, nothing, {})])
                self.run_id = begun.get(self.plan.id)
            cells = [(done.index, done.told, done.found.folder) for done in self.waiting]
            names = [done.told.id for done in self.waiting]
            there = self.logged.elsewhere(names)
            self.tracker.put(child_payloads(self.plan, cells, self.run_id, there))
            late = self.logged.elsewhere(names) - there  # another sweep was a moment earlier
            if late:
                missed = [cell for cell in cells if cell[1].id in late]
                self.tracker.put(child_payloads(self.plan, missed, self.run_id, late))
            self.logged_anything = True
        self.waiting, self.flushed = [], time.monotonic()

    def close(self, rows: Rows, folder: Path) -> None:
        """Tables and figure; and how it ended, even where the disk is full."""
        files: dict[str, Path] = {}
        try:
            files = write(self.plan, self.state, rows, folder)
        finally:
            if self.tracker is not None:
                self.tracker.put([parent_payload(self.plan, self.state, rows, files)])


def write(plan: Plan, state: dict[str, Any], rows: Rows, folder: Path) -> dict[str, Path]:
    """The plan with its runs, the long table, the pivot and the figure; each replaced whole."""
    found: dict[str, Path] = {}
    if rows:
        table = long_table(plan, rows)
        found["cells.csv"] = replaced(folder / "cells.csv", partial(table.to_csv, index=False))
        if metric_names(table, plan):
            pivot = pivot_table(plan, table)
            found["pivot.csv"] = replaced(folder / "pivot.csv", partial(pivot.to_csv, index=False))
            found |= draw_sweep(plan, table, pivot, folder)
    text = lines({**vars(plan), "runs": rows.runs, "state": state})
    found["sweep.json"] = replaced_text(folder / "sweep.json", text)
    return found


def read_sweep(folder: Path) -> tuple[Plan, dict[str, Any], list[str | None]]:
    """A recorded sweep: its plan, its state, and the run of each cell."""
    content = loads(whole.content(folder / "sweep.json", LARGEST).decode())
    try:
        runs, state = content.pop("runs"), content.pop("state")
        if isinstance(content["swept"], list):  # as it was recorded once, cell by cell
            content["swept"] = columns(content["swept"])
        plan = Plan(**content)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"it is no sweep: {error}") from error
    for line in [*plan.problems(), *_problems(plan, state, runs)]:
        raise ValueError(line)
    return plan, state, runs


def _problems(plan: Plan, state: Any, runs: Any) -> Iterator[str]:
    """What a recorded sweep may not be, whoever wrote it."""
    if not isinstance(runs, list) or len(runs) != len(plan):
        yield "it has not a run for each cell"
    elif not all(run is None or isinstance(run, str) for run in runs):
        yield "it names what is no run"
    texts = ("status", "user", "command")
    if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in texts):
        yield "its state is not whole"
        return
    started, tags, git = state.get("started"), state.get("tags", {}), state.get("git")
    if not isinstance(started, int | float) or not 0 <= started <= 1e11:
        yield "it does not say when it was started"
    if not isinstance(tags, dict) or not all(isinstance(tag, str) for tag in tags.values()):
        yield "its tags are no tags"
    if not isinstance(git, dict) or not {"commit", "dirty"} <= git.keys():
        yield "its state is not whole"
    shared = state.get("shared", {"params": {}, "tags": {}})
    parts = [shared.get(name) for name in ("params", "tags")] if isinstance(shared, dict) else [0]
    for part in parts:
        if not isinstance(part, dict) or not all(isinstance(v, str) for v in part.values()):
            yield "what its cells share is no text"
