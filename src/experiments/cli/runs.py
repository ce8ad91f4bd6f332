"""`bythebook runs`: list recorded runs, sorted and filtered."""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.markup import escape

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.cli.outdated_runs import warn_corrupt_files
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import tags
from bythebook.experiments.store.query import Condition, RunQuery, RunRow
from bythebook.experiments.store.run_index import IndexedRun
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import recorded_sweeps

MAX_CELL_CHARS = 40  # of a table cell in a terminal


def main(options: argparse.Namespace) -> int:
    """Print the selected runs, by default the newest first."""
    outputs = resolve_output_dir(options.outputs)
    if options.limit < 0:
        raise InputError(f"--limit {options.limit} is not allowed; allowed: int >= 0 (0 shows all)")
    wanted = tags.parse_tags(options.tag)
    newest_first = options.sort is None
    query = RunQuery(
        by=options.sort or "started",
        reverse=options.reverse != newest_first,
        limit=None if options.json or options.csv else options.limit or None,
        condition=Condition(options.where) if options.where else None,
    )
    warn_corrupt_files(RunStore(outputs))
    selected = selections.select_runs(options.selection, options.search, outputs)
    for run in filter_by_tags(selected.runs(), outputs, wanted) if wanted else selected.runs():
        query.add(run)
    query.check(console.notify)
    columns = query.columns(options.columns.split(",") if options.columns else None)
    rows = query.rows(selected, console.notify)
    if options.json:
        _print_json(rows)
    elif options.csv:
        _print_csv(columns if options.columns else query.names(), rows)
    else:
        cells = [[escape(_format_cell(row[name])) for name in columns] for row in rows]
        console.table([escape(name) for name in columns], cells)
        if query.count > options.limit > 0:
            console.notify(
                f"showing {options.limit} of {query.count} runs; use --limit 0 to show all"
            )
    return OK


def _print_json(rows: Iterator[RunRow]) -> None:
    """Print rows one by one, in the format of `json.dumps` with an indent of 1."""
    before = "[\n "
    for row in rows:
        text = json.dumps(row.content(), indent=1, ensure_ascii=False, default=str)
        sys.stdout.write(before + text.replace("\n", "\n "))
        before = ",\n "
    sys.stdout.write("[]\n" if before.startswith("[") else "\n]\n")


def _print_csv(names: list[str], rows: Iterator[RunRow]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in rows)


def filter_by_tags(
    runs: Iterator[IndexedRun], outputs: Path, wanted: dict[str, str]
) -> Iterator[IndexedRun]:
    """The runs that carry these tags, or belong to a sweep that carries them."""
    sweeps, _ = recorded_sweeps.read_all(outputs)
    of_sweeps = {
        run_id
        for sweep in sweeps
        if wanted.items() <= sweep.state.get("tags", {}).items()
        for run_id in sweep.runs
    }
    for run in runs:
        own = tags.read_tags(run.folder) if run.has_folder else {}
        if run.id in of_sweeps or wanted.items() <= own.items():
            yield run


def _format_cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
    return (
        text
        if len(text) <= MAX_CELL_CHARS or not sys.stdout.isatty()
        else text[: MAX_CELL_CHARS - 1] + "…"
    )
