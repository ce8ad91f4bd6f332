"""`bythebook show`: the claims, the knobs and the latest values of a result."""

import argparse
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from rich.markup import escape

from bythebook.experiments.cli import console, show_study
from bythebook.experiments.cli.exit_codes import OK
from bythebook.experiments.config import catalogue, errata
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import resolve_output_dir
from bythebook.experiments.config.result_names import require_result
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claim_blocks import DERIVED, claim_blocks, claim_entry
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
    if re.fullmatch(rf"({'|'.join(catalogue.BOOKS)})[:.].+", options.name):
        from bythebook.experiments.cli import show_equation  # which needs NumPy

        return show_equation.show(options.name, as_json=options.json)
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
    grade = record.grade if record is not None else job.data_grade
    out.print(f"data grade {grade}{_chance(record)}\n\n[bold]study {job.study.name}[/bold]")
    out.print(escape((type(job.study).__doc__ or "").strip()))
    show_study.print_knobs(knobs)
    out.print()
    if record is None:
        _show_printed(job, verbose=options.verbose)
    else:
        _show_last(record, outputs, verbose=options.verbose)
    out.print(f"\n{command}")
    return OK


def _chance(record: Record | None) -> str:
    facts = record["provenance"] if record is not None else {}
    if "chance" not in facts:
        return ""
    return ", stochastic (depends on the seed)" if facts["chance"] else ", deterministic"


def _show_printed(job: Job, *, verbose: bool) -> None:
    """What the text says; without a run there is no verdict, and derived checks are no part."""
    printed = [claim_entry(claim) for claim in job.claims if claim.origin != DERIVED]
    console.print_claims(claim_blocks(printed), verbose=verbose)
    console.out.print("[dim]no recorded run[/dim]")


def _show_last(record: Record, outputs: Path, *, verbose: bool) -> None:
    counts = robustness.load_counts(outputs, record)
    agreement = [counts.get(key) for key in robustness.claim_keys(record.verdicts)]
    causes = [_cause(record, verdict) for verdict in record.verdicts]
    causes = ["as above" if c and c in causes[:i] else c for i, c in enumerate(causes)]
    blocks = claim_blocks(record.verdicts, agreement, causes)
    console.print_claims(blocks, verbose=verbose)
    console.print_not_converged(record.not_converged)
    console.out.print(f"[dim]run {record.id}, {escape(str(record.folder))}[/dim]")


def _cause(record: Record, verdict: dict[str, Any]) -> str:
    """The cause of an erratum, from its entry in the list of errata."""
    if verdict["cause"] is None:
        return ""
    book = verdict["place"].partition(" ")[0] or record.source.book
    entry = errata.load_erratum(book, verdict["cause"])
    return f"{'possibly: ' if entry.perhaps else ''}{entry.cause}"
