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
from experiments.records import listing, tags
from experiments.records.store import RunStore
from experiments.sweeping import recorded

WIDEST = 40  # characters of a cell in a terminal


def main(options: argparse.Namespace) -> int:
    """The newest first, unless something else is asked for."""
    outputs = outputs_folder(options.outputs)
    if options.limit < 0:
        raise BadInput(f"--limit {options.limit} is not allowed; allowed: int >= 0, 0 is all")
    wanted = tags.parsed(options.tag)
    tell_of_damage(RunStore(outputs))
    found = list(listing.rows(folders(options, outputs, wanted), console.tell))
    if options.where:
        found = listing.where(found, options.where)
    newest_first = options.sort is None
    reverse = options.reverse != newest_first
    found = listing.ordered(found, options.sort or "started", reverse=reverse)
    shown = listing.columns(found, options.columns.split(",") if options.columns else None)
    if options.json:
        entries = [entry.content() for entry in found]
        print(json.dumps(entries, indent=1, ensure_ascii=False, default=str))
        return OK
    if options.csv:
        names = shown if options.columns else list(dict.fromkeys(n for e in found for n in e))
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([entry[name] for name in names] for entry in found)
        return OK
    most = options.limit or len(found)
    rows = [[escape(_cell(entry[name])) for name in shown] for entry in found[:most]]
    console.table([escape(name) for name in shown], rows)
    if len(found) > most:
        console.tell(f"the first {most} of {len(found)} runs; --limit 0 shows all")
    return OK


def folders(options: argparse.Namespace, outputs: Path, wanted: dict[str, str]) -> Iterator[Path]:
    """The folders of the selected runs, each once."""
    swept = _of_tagged_sweeps(outputs, wanted) if wanted else set()
    for folder in dict.fromkeys(_selected(options, outputs)):
        own = tags.read(folder) if wanted else {}
        if folder.name in swept or all(own.get(name) == value for name, value in wanted.items()):
            yield folder


def _of_tagged_sweeps(outputs: Path, wanted: dict[str, str]) -> set[str | None]:
    """The runs of the sweeps that carry these tags."""
    sweeps, _ = recorded.read_all(outputs)
    return {
        run
        for sweep in sweeps
        if wanted.items() <= sweep.state.get("tags", {}).items()
        for run in sweep.runs
    }


def _selected(options: argparse.Namespace, outputs: Path) -> Iterator[Path]:
    store = RunStore(outputs)
    words = list(options.selection)
    if not words and not options.search:
        yield from store.folders()
        return
    for word in [word for word in words if word.startswith(recorded.PREFIX)]:
        words.remove(word)
        runs = recorded.find(outputs, word.removeprefix(recorded.PREFIX)).runs
        yield from filter(None, store.located(runs))
    for word in words:  # a study's own runs, beside those of its results
        if word.startswith("study:"):
            yield from store.folders(f"study/{word.removeprefix('study:')}")
    if words or options.search:
        for name in selecting.results(options, outputs, words):
            yield from store.folders(name)


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
    return text if len(text) <= WIDEST or not sys.stdout.isatty() else text[: WIDEST - 1] + "…"
