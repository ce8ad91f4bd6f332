"""`bythebook show`: what the book says, the knobs, and what the last run gave."""

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

from rich.markup import escape

from experiments.commands import console, show_study
from experiments.commands.codes import OK
from experiments.configuration import catalogue, errata
from experiments.configuration.build import experiment_job
from experiments.configuration.errors import no_choice
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.sweeping import robustness


def main(options: argparse.Namespace) -> int:
    """One experiment, `study:<name>` or `sweep:<id>`."""
    if options.name.startswith("study:"):
        name = options.name.removeprefix("study:")
        return show_study.show(name, as_json=options.json, outputs=options.outputs)
    if options.name.startswith("sweep:"):
        from experiments.commands import sweep_views  # a result needs no Hydra

        name = options.name.removeprefix("sweep:")
        outputs = outputs_folder(options.outputs)
        return sweep_views.show(outputs, name, options.metric, as_json=options.json)
    if options.name not in catalogue.names():
        raise BadInput(no_choice("experiment", options.name))
    job = experiment_job(options.name)
    outputs = outputs_folder(options.outputs)
    record = RunStore(outputs).latest(options.name)
    knobs = show_study.knobs(type(job.study), dataclasses.asdict(job.study))
    command = f"bythebook run experiment={options.name}"
    if options.json:
        content = {
            "id": options.name,
            **job.science,
            **job.printed.content,
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
    for place in source.also:
        told = ", ".join(filter(None, [catalogue.BOOKS[place.book], place.section, place.item]))
        out.print(f"also told by {escape(told)}")
    if source.note:
        out.print(f"[dim]{escape(source.note)}[/dim]")
    grade = record["grade"] if record is not None else job.grade
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
    return ", depends on the seed" if facts["chance"] else ", no chance in it"


def _show_last(record: Record | None, outputs: Path, claims: list[tuple[str, str]]) -> None:
    if record is None:
        console.table(["the book says", "printed"], [[escape(a), escape(b)] for a, b in claims])
        console.out.print("[dim]not run yet[/dim]")
        return
    counts = robustness.remembered(outputs, record)
    console.claims_table(
        record.verdicts, {says: robustness.in_words(seeds) for says, seeds in counts.items()}
    )
    for verdict in record.verdicts:
        for reason in filter(None, (_cause(record, verdict), verdict["why"], verdict["changed"])):
            console.out.print(f"[dim]{escape(verdict['says'])}: {escape(reason)}[/dim]")
    console.out.print(f"[dim]run {record.id}, {escape(str(record.folder))}[/dim]")


def _cause(record: Record, verdict: dict[str, Any]) -> str:
    """What the ledger says of an erratum."""
    if verdict["cause"] is None:
        return ""
    book = verdict["place"].partition(" ")[0] or record.source.book
    entry = errata.read(book, verdict["cause"])
    return f"{'perhaps ' if entry.perhaps else ''}{entry.cause}"
