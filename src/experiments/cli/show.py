"""`bythebook show`: the claims, the knobs and the latest values of a result."""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from rich.markup import escape

from bythebook.experiments.cli import console, show_study
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.config.result_names import require_result
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps import robustness


def main(options: argparse.Namespace) -> int:
    """Show a result, `study:<name>` or `sweep:<id>`."""
    if options.name.startswith("study:"):
        name = options.name.removeprefix("study:")
        return show_study.show(name, as_json=options.json, outputs=options.outputs)
    if options.name.startswith("sweep:"):
        from bythebook.experiments.cli import sweep_views  # a result needs no Hydra

        name = options.name.removeprefix("sweep:")
        outputs = resolve_output_dir(options.outputs)
        return sweep_views.show_sweep(outputs, name, options.metric, as_json=options.json)
    result = require_result(options.name)
    job = load_job(result)
    outputs = resolve_output_dir(options.outputs)
    record = RunStore(outputs).latest_run(result)
    knobs = show_study.knobs(type(job.study), dataclasses.asdict(job.study))
    command = f"bythebook run {result}"
    if options.json:
        content = {
            "id": result,
            **job.config,
            **job.published.content,
            "knobs": knobs,
            "last": {**record.content, "verdicts": record.verdicts} if record else None,
            "command": command,
        }
        print(json.dumps(content, indent=1, ensure_ascii=False))
        return OK
    source, out = job.source, console.out
    book = catalogue.BOOKS.get(source.book, source.book)
    out.print(
        f"[bold]{escape(source.item)}[/bold], {escape(book)}, section {escape(source.section)}"
    )
    out.print(escape(source.title))
    for other in source.also:
        title = ", ".join(filter(None, [catalogue.BOOKS[other.book], other.section, other.item]))
        out.print(f"also in {escape(title)}")
    if source.note:
        out.print(f"[dim]{escape(source.note)}[/dim]")
    grade = record["grade"] if record is not None else job.data_grade
    out.print(f"data grade {grade}{_chance(record)}\n\n[bold]study {job.study.name}[/bold]")
    out.print(escape((type(job.study).__doc__ or "").strip()))
    show_study.print_knobs(knobs)
    out.print()
    _show_last(record, outputs, [(claim.says, claim.printed or "") for claim in job.claims])
    out.print(f"\n{command}")
    return OK


def _chance(record: Record | None) -> str:
    facts = record["provenance"] if record is not None else {}
    if "chance" not in facts:
        return ""
    return ", stochastic (depends on the seed)" if facts["chance"] else ", deterministic"


def _show_last(record: Record | None, outputs: Path, claims: list[tuple[str, str]]) -> None:
    if record is None:
        console.table(["claim", "printed"], [[escape(a), escape(b)] for a, b in claims])
        console.out.print("[dim]no recorded run[/dim]")
        return
    counts = robustness.load_counts(outputs, record)
    agreement = [
        robustness.format_counts(counts[key]) if key in counts else ""
        for key in robustness.claim_keys(record.verdicts)
    ]
    console.claims_table(record.verdicts, agreement if counts else None)
    for verdict in record.verdicts:
        for reason in filter(None, (_cause(record, verdict), verdict["why"], verdict["changed"])):
            console.out.print(f"[dim]{escape(verdict['says'])}: {escape(reason)}[/dim]")
    console.out.print(f"[dim]run {record.id}, {escape(str(record.folder))}[/dim]")


def _cause(record: Record, verdict: dict[str, Any]) -> str:
    """The cause of an erratum, from its entry in the list of errata."""
    if verdict["cause"] is None:
        return ""
    book = verdict["place"].partition(" ")[0] or record.source.book
    entry = errata.load_erratum(book, verdict["cause"])
    return f"{'possibly ' if entry.perhaps else ''}{entry.cause}"
