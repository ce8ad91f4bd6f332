"""`bythebook list`: all results with their last verdicts, or all sweeps; nothing is computed."""

import argparse
import json
from typing import Any

from rich.markup import escape

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.core.registry import topic_of
from bythebook.experiments.store.verdict_cache import cached_verdict_counts


def main(options: argparse.Namespace) -> int:
    """Print id, item, study, title and last verdict of the selected results; or all sweeps."""
    if options.selection == ["sweeps"]:
        from bythebook.experiments.cli import sweep_views  # a list of results needs no NumPy

        return sweep_views.list_sweeps(resolve_output_dir(options.outputs), as_json=options.json)
    outputs = resolve_output_dir(options.outputs)
    names = selections.select_results(options.selection, options.search, outputs)
    last = cached_verdict_counts(outputs, names)
    if options.json:
        entries = [_entry(name, last[name]) for name in names]
        print(json.dumps(entries, indent=1, ensure_ascii=False))
        return OK
    rows = []
    for name in names:
        heading = catalogue.load_heading(name)
        row = [name, escape(heading.item), heading.study, escape(heading.title)]
        rows.append([*row, _format_verdicts(last[name])])
    console.table(["id", "item", "study", "title", "last verdict"], rows)
    return OK


def _entry(name: str, last: dict[str, int] | None) -> dict[str, Any]:
    """A result as JSON: its heading, the number of claims, and the last verdicts."""
    entry = catalogue.load_experiment(name)
    return {
        "id": name,
        "item": entry.source.get("item", ""),
        "title": entry.source.get("title", ""),
        "study": entry.study,
        "topic": topic_of(entry.study),
        "claims": len(entry.body.get("claims", [])),
        "last": last,
    }


def _format_verdicts(last: dict[str, int] | None) -> str:
    if last is None:
        return "[dim]not run[/dim]"
    return ", ".join(
        f"{count} {console.colour_verdict(verdict)}" for verdict, count in last.items()
    )
