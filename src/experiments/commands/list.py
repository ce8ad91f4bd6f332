"""`bythebook list`: every experiment, from the files and the recorded verdicts alone."""

import argparse
import json
from collections import Counter
from typing import Any

from rich.markup import escape

from experiments import catalogue, console
from experiments.cli import OK
from experiments.paths import outputs_folder


def main(options: argparse.Namespace) -> int:
    """Id, book item, study, title, last verdict."""
    runs = outputs_folder(options.outputs) / "runs"
    entries = []
    for name in catalogue.select(options.selection):
        entry = catalogue.read(name)
        entries.append(
            {
                "id": name,
                "item": entry.source.get("item", ""),
                "title": entry.source.get("title", ""),
                "study": entry.study,
                "family": entry.source.get("family", ""),
                "claims": len(entry.body.get("claims", [])),
                "last": last_verdicts(runs / name),
            }
        )
    if options.json:
        print(json.dumps(entries, indent=1, ensure_ascii=False))
        return OK
    rows = [
        [e["id"], escape(e["item"]), e["study"], escape(e["title"]), _words(e["last"])]
        for e in entries
    ]
    console.table(["id", "item", "study", "title", "last verdict"], rows)
    return OK


def last_verdicts(folder: Any) -> dict[str, int] | None:
    """How the claims of the newest finished run came out; None where there is none."""
    files = sorted(folder.glob("[!.]*/run.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in reversed(files):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["status"] == "finished":
            return dict(Counter(verdict["verdict"] for verdict in record["verdicts"]))
    return None


def _words(last: dict[str, int] | None) -> str:
    if last is None:
        return "[dim]not run[/dim]"
    return ", ".join(f"{count} {console.coloured(verdict)}" for verdict, count in last.items())
