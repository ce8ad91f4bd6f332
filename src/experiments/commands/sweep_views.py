"""Sweeps in the terminal: a list of them, one with its means, its tables as files."""

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from experiments.commands import console
from experiments.commands.codes import OK
from experiments.configuration.paths import writable
from experiments.records.tables import write_table
from experiments.sweeping import recorded
from experiments.sweeping.plan import Plan, short
from experiments.sweeping.tables import pivot_table

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 60  # rows of means that a terminal is given


def list_all(outputs: Path, *, as_json: bool) -> int:
    """`bythebook list sweeps`."""
    found, problems = recorded.read_all(outputs)
    for line in problems:
        console.tell(line)
    if as_json:
        print(json.dumps([_content(swept) for swept in found], indent=1, ensure_ascii=False))
        return OK
    rows = [
        [
            swept.id,
            escape(", ".join(short(knob) for knob in swept.plan.swept)),
            swept.plan.study,
            f"{swept.done} of {len(swept.plan)}",
            str(swept.state["status"]).lower(),
            _when(swept),
            escape(swept.plan.title),
        ]
        for swept in found
    ]
    console.table(["sweep", "over", "study", "cells", "status", "started (UTC)", "title"], rows)
    return OK


def show(outputs: Path, name: str, metric: str | None, *, as_json: bool) -> int:
    """`bythebook show sweep:<id>`: means over seeds, and how to issue it again."""
    swept = recorded.find(outputs, name)
    if metric:
        swept.check(metric, outputs)
    plan, table = recorded.cells(swept, outputs, metric)
    if as_json:
        means = json.loads(pivot_table(plan, table).to_json(orient="records"))
        content = {**_content(swept), "overrides": plan.overrides, "means": means}
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return OK
    out = console.out
    out.print(f"[bold]{swept.id}[/bold]  {escape(plan.title)}  ({plan.study}, {_when(swept)})")
    status = str(swept.state["status"]).lower()
    out.print(f"{swept.done} of {len(plan)} cells have a run, {status}\n")
    print_pivot(plan, table)
    out.print(f"\n{escape(shlex.join(['bythebook', 'run', '-m', *plan.overrides]))}")
    out.print(f"[dim]{escape(str(swept.folder))}[/dim]")
    return OK


def print_pivot(plan: Plan, table: "pd.DataFrame") -> None:
    """Mean and standard error over seeds for each combination of the other knobs."""
    columns, rows = recorded.pivot(plan, table)
    if not rows:
        console.tell(recorded.NUMBERLESS)
        return
    shown = [[escape(cell) for cell in row] for row in rows[:SHOWN]]
    console.table([escape(name) for name in columns], shown)
    if len(rows) > SHOWN:
        console.out.print(f"... and {len(rows) - SHOWN} more, in pivot.csv")
    elif len(rows) > 1:
        console.out.print("[dim]mean ± s.e. over seeds; ▼ the least, ▲ the most[/dim]")


def write_tables(outputs: Path, name: str, formats: Sequence[str]) -> int:
    """`bythebook tables sweep:<id>`: its cells and its means; how many files were written."""
    swept = recorded.find(outputs, name)
    plan, table = recorded.cells(swept, outputs)
    folder = writable(outputs, "tables", "sweeps", swept.id)
    written = 0
    for stem, frame in (("cells", table), ("means", pivot_table(plan, table))):
        gapless = frame.astype(object).where(frame.notna(), None)
        columns = {str(column): gapless[column].tolist() for column in gapless}
        written += len(write_table(columns, folder, stem, formats))
    return written


def _content(swept: recorded.Swept) -> dict[str, object]:
    plan = swept.plan
    known = {"id": swept.id, "study": plan.study, "title": plan.title, "over": list(plan.swept)}
    done = {"cells": len(plan), "done": swept.done, "status": swept.state["status"]}
    return {**known, **done, "started": swept.state["started"], "metric": plan.metric}


def _when(swept: recorded.Swept) -> str:
    return datetime.fromtimestamp(swept.state["started"], UTC).strftime("%Y-%m-%d %H:%M")
