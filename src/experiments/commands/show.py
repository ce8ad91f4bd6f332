"""`bythebook show`: what the book says, the knobs, and what the last run gave."""

import argparse
import dataclasses
import json
from typing import Any

from rich.markup import escape

from experiments.cli import OK
from experiments.commands import console
from experiments.configuration import catalogue
from experiments.configuration.compose import experiment_job
from experiments.configuration.errors import no_choice
from experiments.configuration.paths import outputs_folder
from experiments.contract.errors import BadInput
from experiments.contract.knobs import allowed
from experiments.contract.study import Study, studies
from experiments.records.store import Record, RunStore


def main(options: argparse.Namespace) -> int:
    """One experiment, or `study:<name>`."""
    if options.name.startswith("study:"):
        return _show_study(options.name.removeprefix("study:"), as_json=options.json)
    if options.name not in catalogue.names():
        raise BadInput(no_choice("experiment", options.name))
    job = experiment_job(options.name)
    record = RunStore(outputs_folder(options.outputs)).latest(options.name)
    knobs = _knobs(type(job.study), dataclasses.asdict(job.study))
    command = f"bythebook run experiment={options.name}"
    if options.json:
        content = {
            "id": options.name,
            **job.science,
            "knobs": knobs,
            "last": record.content if record else None,
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
    if source.note:
        out.print(f"[dim]{escape(source.note)}[/dim]")
    out.print(f"data grade {job.grade}\n\n[bold]study {job.study.name}[/bold]")
    out.print(escape((type(job.study).__doc__ or "").strip()))
    _print_knobs(knobs)
    out.print()
    _show_last(record, [(claim.says, claim.printed or "") for claim in job.claims])
    out.print(f"\n{command}")
    return OK


def _show_last(record: Record | None, claims: list[tuple[str, str]]) -> None:
    if record is None:
        console.table(["the book says", "printed"], [[escape(a), escape(b)] for a, b in claims])
        console.out.print("[dim]not run yet[/dim]")
        return
    console.claims_table(record.verdicts)
    for verdict in record.verdicts:
        if verdict["why"]:
            console.out.print(f"[dim]{escape(verdict['says'])}: {escape(verdict['why'])}[/dim]")
    console.out.print(f"[dim]run {record.id}, {escape(str(record.folder))}[/dim]")


def _show_study(name: str, *, as_json: bool) -> int:
    study = studies().get(name)
    if study is None:
        raise BadInput(no_choice("study", name))
    knobs = _knobs(study, dataclasses.asdict(study()))
    if as_json:
        print(json.dumps({"study": name, "doc": study.__doc__, "knobs": knobs}, indent=1))
        return OK
    console.out.print(f"[bold]{name}[/bold]\n{escape((study.__doc__ or '').strip())}")
    _print_knobs(knobs)
    return OK


def _knobs(study: type[Study], values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "knob": field.name,
            "value": values[field.name],
            "allowed": allowed(field),
            "doc": field.metadata["doc"],
        }
        for field in dataclasses.fields(study)
    ]


def _print_knobs(knobs: list[dict[str, Any]]) -> None:
    rows = [
        [k["knob"], escape(str(k["value"])), escape(k["allowed"]), escape(k["doc"])] for k in knobs
    ]
    console.table(["knob", "value", "allowed", "meaning"], rows)
