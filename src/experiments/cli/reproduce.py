"""`bythebook reproduce`: run the selected results and evaluate all their claims."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bythebook.experiments.api import pipeline, selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.cli.outdated_runs import warn_outdated_runs
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.schema import TRACKING
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.verdicts import (
    CATEGORIES,
    DERIVED_CATEGORIES,
    count_separately,
)
from bythebook.experiments.execution.launchers import LocalLauncher
from bythebook.experiments.execution.runner import CompletedRun
from bythebook.experiments.report import scoreboard
from bythebook.experiments.store import tags
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.verdict_cache import cached_verdict_counts
from bythebook.experiments.tracking.local import make_tracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker


def main(options: argparse.Namespace) -> int:
    """Return 1 if a run fails or a verdict differs from the one in the result's file."""
    outputs = resolve_output_dir(options.outputs)
    names = selections.select_results(options.selection, options.search, outputs)
    workers = options.jobs if options.jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise InputError(f"--jobs {workers} is not allowed; allowed: int >= 1")
    if options.tracking not in TRACKING:
        allowed = ", ".join(TRACKING)
        raise InputError(f"--tracking {options.tracking} is not allowed; allowed: {allowed}")
    data = options.data_dir or data_dir_from_environment()
    jobs, own_tags = [load_job(name, data) for name in names], tags.parse_tags(options.tag)
    ensure_writable(outputs)
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    tracker = make_tracker(options.tracking, uri, outputs)
    tolerant = FaultTolerantTracker(tracker, console.notify) if tracker is not None else None

    by_name: dict[str, Record] = {}
    computed = 0
    order = _interleave_by_study(jobs)
    completed = pipeline.run_many(
        [jobs[index] for index in order],
        outputs,
        tolerant,
        LocalLauncher(workers),
        own_tags=own_tags,
        force=options.force,
    )
    with _progress(len(jobs), quiet=options.json) as show:
        for done in completed:
            name = names[order[done.index]]
            by_name[name] = done.record
            computed += done.computed
            show(name, done)
    records = {name: by_name[name] for name in names}
    warn_outdated_runs(RunStore(outputs), names)
    return _print_summary(records, computed, outputs, as_json=options.json)


def _interleave_by_study(jobs: Sequence[Job]) -> list[int]:
    """The order of the jobs: one of each study, then a second one of each, and so on.

    In the order of the books, neighbouring jobs often share a study. All workers but one would then
    wait for the compilation of the same code, and the long jobs would run together at the end.
    """
    counts: Counter[type] = Counter()
    order = []
    for index, job in enumerate(jobs):
        order.append((counts[type(job.study)], index))
        counts[type(job.study)] += 1
    return [index for _, index in sorted(order)]


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[str, CompletedRun], None]]:
    """Show a bar with the verdicts so far; print failed runs and unexpected verdicts."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[score]}"),
    )
    tally: Counter[str] = Counter()
    with Progress(*columns, console=console.err, transient=True, disable=quiet) as progress:
        bar = progress.add_task("reproducing", total=total, score="")

        def show(name: str, done: CompletedRun) -> None:
            record = done.record
            tally.update(count_separately(record.verdicts))
            names = (*CATEGORIES, *DERIVED_CATEGORIES)
            score = "  ".join(f"{tally[v]} {console.colour_verdict(v)}" for v in names if tally[v])
            progress.update(bar, advance=1, score=score)
            if not record.finished:
                error = record["error"]
                line = f"{name} failed: {error['type']}: {error['message']}"
                progress.console.print(escape(line))
            for verdict in record.unexpected_verdicts:
                outcome = f"{verdict['verdict']}, expected {verdict['expected']}"
                progress.console.print(escape(f"{name}: {verdict['says']}: {outcome}"))

        yield show


def _print_summary(
    records: dict[str, Record], computed: int, outputs: Path, *, as_json: bool
) -> int:
    failed = [name for name, record in records.items() if not record.finished]
    cached_verdict_counts(outputs, records)
    claims = scoreboard.claim_records(records)
    unexpected = scoreboard.unexpected_claims(claims)
    if as_json:
        print(json.dumps(claims, indent=1, ensure_ascii=False))
    else:
        console.table(["book", *scoreboard.COLUMNS], scoreboard.scoreboard_rows(claims, "book"))
        seconds = sum(record["provenance"]["seconds"] for record in records.values())
        console.out.print(
            f"\n{len(records)} results with {len(claims)} claims: {computed} computed,"
            f" {len(records) - computed} cached, {len(failed)} failed;"
            f" {seconds:.1f} s of computing; outputs: {outputs}"
        )
        if computed:
            console.out.print("next: `bythebook report` or `bythebook ui` shows the figures")
    for name in failed:
        error = records[name]["error"]
        console.notify(f"{name} failed: {error['type']}: {error['message']}")
    for claim in unexpected:
        console.notify(
            f"{claim['experiment']}: {claim['claim']}:"
            f" {claim['verdict']}, expected {claim['expected']}"
            f" (printed {claim['printed']}, computed {claim['computed']}; {claim['judged']})"
        )
    return UNEXPECTED if failed or unexpected else OK
