"""`bythebook runs`: a table of recorded runs, sorted and filtered."""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.markup import escape

from experiments.commands import console, selecting
from experiments.commands.codes import OK
from experiments.commands.older import tell_of_damage
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.records import tags
from experiments.records.listing import Condition, Listing, Row
from experiments.records.selected import Seen, Selected
from experiments.records.store import RunStore
from experiments.sweeping import recorded

WIDEST = 40  # characters of a cell in a terminal


def main(options: argparse.Namespace) -> int:
    """The newest first, unless something else is asked for."""
    outputs = outputs_folder(options.outputs)
    if options.limit < 0:
        raise BadInput(f"--limit {options.limit} is not allowed; allowed: int >= 0, 0 is all")
    wanted = tags.parsed(options.tag)
    newest_first = options.sort is None
    listing = Listing(
        by=options.sort or "started",
        reverse=options.reverse != newest_first,
        most=None if options.json or options.csv else options.limit or None,
        condition=Condition(options.where) if options.where else None,
    )
    tell_of_damage(RunStore(outputs))
    selected = selection(options, outputs)
    for seen in tagged(selected.seen(), outputs, wanted) if wanted else selected.seen():
        listing.add(seen)
    listing.check(console.tell)
    shown = listing.columns(options.columns.split(",") if options.columns else None)
    rows = listing.rows(selected, console.tell)
    if options.json:
        _print_json(rows)
    elif options.csv:
        _print_csv(shown if options.columns else listing.names(), rows)
    else:
        cells = [[escape(_cell(entry[name])) for name in shown] for entry in rows]
        console.table([escape(name) for name in shown], cells)
        if listing.count > options.limit > 0:
            console.tell(f"the first {options.limit} of {listing.count} runs; --limit 0 shows all")
    return OK


def _print_json(rows: Iterator[Row]) -> None:
    """A list of mappings, as `json.dumps` indents it."""
    before = "[\n "
    for entry in rows:
        text = json.dumps(entry.content(), indent=1, ensure_ascii=False, default=str)
        sys.stdout.write(before + text.replace("\n", "\n "))
        before = ",\n "
    sys.stdout.write("[]\n" if before.startswith("[") else "\n]\n")


def _print_csv(names: list[str], rows: Iterator[Row]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([entry[name] for name in names] for entry in rows)


def tagged(runs: Iterator[Seen], outputs: Path, wanted: dict[str, str]) -> Iterator[Seen]:
    """Those runs that carry these tags, or are of a sweep that does."""
    sweeps, _ = recorded.read_all(outputs)
    swept = {
        run
        for sweep in sweeps
        if wanted.items() <= sweep.state.get("tags", {}).items()
        for run in sweep.runs
    }
    for seen in runs:
        own = tags.read(seen.folder) if seen.has_folder else {}
        if seen.id in swept or wanted.items() <= own.items():
            yield seen


def selection(options: argparse.Namespace, outputs: Path) -> Selected:
    """The selected runs."""
    store, found = RunStore(outputs), Selected()
    words = list(options.selection)
    if not words and not options.search:
        found.add_places(store.places())
        return found
    for word in [word for word in words if word.startswith(recorded.PREFIX)]:
        words.remove(word)
        found.add_runs(store, recorded.find(outputs, word.removeprefix(recorded.PREFIX)).runs)
    for word in words:  # a study's own runs, beside those of its results
        if word.startswith("study:"):
            found.add_places(store.places(f"study/{word.removeprefix('study:')}"))
    if words or options.search:
        for name in selecting.results(options, outputs, words):
            found.add_places(store.places(name))
    return found


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
    return text if len(text) <= WIDEST or not sys.stdout.isatty() else text[: WIDEST - 1] + "…"
