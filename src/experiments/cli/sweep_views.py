"""Show recorded sweeps in the terminal, and write their tables to files."""

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config.paths import ensure_writable
from bythebook.experiments.store.tables import write_table
from bythebook.experiments.sweeps import recorded_sweeps
from bythebook.experiments.sweeps.plan import SweepPlan, short_name
from bythebook.experiments.sweeps.tables import means_frame

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 60  # of means in a terminal


def list_sweeps(outputs: Path, *, as_json: bool) -> int:
    """List all sweeps, for `bythebook list sweeps`."""
    sweeps, problems = recorded_sweeps.read_all(outputs)
    for line in problems:
        console.notify(line)
    if as_json:
        print(json.dumps([_content(sweep) for sweep in sweeps], indent=1, ensure_ascii=False))
        return OK
    rows = [
        [
            sweep.id,
            escape(", ".join(short_name(knob) for knob in sweep.plan.swept)),
            sweep.plan.study,
            f"{sweep.done} of {len(sweep.plan)}",
            str(sweep.state["status"]).lower(),
            _start_time(sweep),
            escape(sweep.plan.title),
        ]
        for sweep in sweeps
    ]
    console.table(["sweep", "over", "study", "runs", "status", "started (UTC)", "title"], rows)
    return OK


def show_sweep(outputs: Path, name: str, metric: str | None, *, as_json: bool) -> int:
    """Print means over seeds and the command line of a sweep, for `bythebook show sweep:<id>`."""
    sweep = recorded_sweeps.find_sweep(outputs, name)
    if metric:
        sweep.check(metric, outputs)
    plan, table = recorded_sweeps.load_cells(sweep, outputs, metric)
    if as_json:
        means = json.loads(means_frame(plan, table).to_json(orient="records"))
        content = {**_content(sweep), "overrides": plan.overrides, "means": means}
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return OK
    out = console.out
    started = _start_time(sweep)
    out.print(f"[bold]{sweep.id}[/bold]  {escape(plan.title)}  ({plan.study}, {started})")
    status = str(sweep.state["status"]).lower()
    out.print(f"{sweep.done} of {len(plan)} runs recorded, {status}\n")
    print_means(plan, table)
    out.print(f"\n{escape(shlex.join(['bythebook', 'run', '-m', *plan.overrides]))}")
    out.print(f"[dim]{escape(str(sweep.folder))}[/dim]")
    return OK


def print_means(plan: SweepPlan, table: "pd.DataFrame") -> None:
    """Print mean and standard error over seeds, for each combination of the other knobs."""
    columns, rows = recorded_sweeps.means_table(plan, table)
    if not rows:
        console.notify(recorded_sweeps.NO_METRIC_MESSAGE)
        return
    escaped = [[escape(cell) for cell in row] for row in rows[:MAX_ROWS]]
    console.table([escape(name) for name in columns], escaped)
    if len(rows) > MAX_ROWS:
        console.out.print(f"... and {len(rows) - MAX_ROWS} more in pivot.csv")
    elif len(rows) > 1:
        console.out.print(f"[dim]{recorded_sweeps.LEGEND}[/dim]")


def write_tables(outputs: Path, name: str, formats: Sequence[str]) -> int:
    """Write the tables of a sweep, and return the number of files."""
    sweep = recorded_sweeps.find_sweep(outputs, name)
    plan, table = recorded_sweeps.load_cells(sweep, outputs)
    folder = ensure_writable(outputs, "tables", "sweeps", sweep.id)
    written = 0
    for stem, frame in (("cells", table), ("means", means_frame(plan, table))):
        with_none = frame.astype(object).where(frame.notna(), None)
        columns = {str(column): with_none[column].tolist() for column in with_none}
        written += len(write_table(columns, folder, stem, formats))
    return written


def _content(sweep: recorded_sweeps.RecordedSweep) -> dict[str, object]:
    plan = sweep.plan
    return {
        "id": sweep.id,
        "study": plan.study,
        "title": plan.title,
        "over": list(plan.swept),
        "cells": len(plan),
        "done": sweep.done,
        "status": sweep.state["status"],
        "started": sweep.state["started"],
        "metric": plan.metric,
    }


def _start_time(sweep: recorded_sweeps.RecordedSweep) -> str:
    return datetime.fromtimestamp(sweep.state["started"], UTC).strftime("%Y-%m-%d %H:%M")
