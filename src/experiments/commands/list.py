"""`bythebook list`: every experiment, from the files and the recorded verdicts alone."""

import argparse
import json
from typing import Any

from rich.markup import escape

from experiments.commands import console, selecting
from experiments.commands.codes import OK
from experiments.configuration import catalogue
from experiments.configuration.paths import outputs_folder
from experiments.contract.places import topic
from experiments.records.last_verdicts import last_verdicts


def main(options: argparse.Namespace) -> int:
    """Id, book item, study, title, last verdict; or the sweeps."""
    if options.selection == ["sweeps"]:
        from experiments.commands import sweep_views  # a list of results needs no arrays

        return sweep_views.list_all(outputs_folder(options.outputs), as_json=options.json)
    outputs = outputs_folder(options.outputs)
    names = selecting.results(options, outputs)
    last = last_verdicts(outputs, names)
    if options.json:
        entries = [_entry(name, last[name]) for name in names]
        print(json.dumps(entries, indent=1, ensure_ascii=False))
        return OK
    rows = []
    for name in names:
        told = catalogue.heading(name)
        rows.append([name, escape(told.item), told.study, escape(told.title), _words(last[name])])
    console.table(["id", "item", "study", "title", "last verdict"], rows)
    return OK


def _entry(name: str, last: dict[str, int] | None) -> dict[str, Any]:
    """All that can be told of a result without running it."""
    entry = catalogue.read(name)
    return {
        "id": name,
        "item": entry.source.get("item", ""),
        "title": entry.source.get("title", ""),
        "study": entry.study,
        "topic": topic(entry.study),
        "claims": len(entry.body.get("claims", [])),
        "last": last,
    }


def _words(last: dict[str, int] | None) -> str:
    if last is None:
        return "[dim]not run[/dim]"
    return ", ".join(f"{count} {console.coloured(verdict)}" for verdict, count in last.items())
