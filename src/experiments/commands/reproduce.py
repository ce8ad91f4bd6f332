"""`bythebook reproduce`: run a selection, judge every claim, keep the score."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.commands import console, performing, selecting
from experiments.commands.codes import OK, UNEXPECTED
from experiments.commands.older import tell_of_older
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder, writable
from experiments.configuration.schema import TRACKING
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import STANDINGS, tallied
from experiments.records import tags
from experiments.records.last_verdicts import last_verdicts
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.report import scoreboard
from experiments.running.launchers import Processes
from experiments.running.runner import Done
from experiments.tracking.local import open_tracker
from experiments.tracking.tracker import Forgiving


def main(options: argparse.Namespace) -> int:
    """Exit 1 if a run fails or a claim comes out otherwise than its file expects."""
    outputs = outputs_folder(options.outputs)
    names = selecting.results(options, outputs)
    workers = options.jobs if options.jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadInput(f"--jobs {workers} is not allowed; allowed: int >= 1")
    if options.tracking not in TRACKING:
        raise BadInput(f"--tracking {options.tracking}; allowed: {', '.join(TRACKING)}")
    data = options.data or os.environ.get("BOOK_DATA") or None
    jobs, given = [experiment_job(name, data) for name in names], tags.parsed(options.tag)
    writable(outputs)
    uri = options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    tracker = open_tracker(options.tracking, uri, outputs)
    forgiving = Forgiving(tracker, console.tell) if tracker is not None else None

    found: dict[str, Record] = {}
    computed = 0
    turns = _by_turns(jobs)
    performed = performing.selected(
        [jobs[index] for index in turns],
        outputs,
        forgiving,
        Processes(workers),
        own_tags=given,
        fresh=options.fresh,
    )
    with _progress(len(jobs), quiet=options.json) as show:
        for done in performed:
            name = names[turns[done.index]]
            found[name] = done.record
            computed += done.computed
            show(name, done)
    records = {name: found[name] for name in names}
    tell_of_older(RunStore(outputs), names)
    return _tell(records, computed, outputs, as_json=options.json)


def _by_turns(jobs: Sequence[Job]) -> list[int]:
    """One job of each study, then another of each.

    Neighbours in a book have much in common: workers would come to the same recursion at the same
    moment, and all but one wait until it is compiled, and to the long ones together at the end.
    """
    seen: Counter[type] = Counter()
    turns = []
    for index, job in enumerate(jobs):
        turns.append((seen[type(job.study)], index))
        seen[type(job.study)] += 1
    return [index for _, index in sorted(turns)]


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[str, Done], None]]:
    """A bar with the score so far; failures and surprises are printed as they happen."""
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

        def show(name: str, done: Done) -> None:
            record = done.record
            tally.update(tallied(record.verdicts))
            score = "  ".join(f"{tally[v]} {console.coloured(v)}" for v in STANDINGS if tally[v])
            progress.update(bar, advance=1, score=score)
            if not record.finished:
                error = record["error"]
                line = f"{name} failed: {error['type']}: {error['message']}"
                progress.console.print(escape(line))
            for verdict in record.surprises:
                how = f"{verdict['verdict']}, expected {verdict['expected']}"
                progress.console.print(escape(f"{name}: {verdict['says']}: {how}"))

        yield show


def _tell(records: dict[str, Record], computed: int, outputs: Path, *, as_json: bool) -> int:
    failed = [name for name, record in records.items() if not record.finished]
    last_verdicts(outputs, records)
    claims = scoreboard.claim_records(records)
    unexpected = scoreboard.surprises(claims)
    if as_json:
        print(json.dumps(claims, indent=1, ensure_ascii=False))
    else:
        console.table(["book", *scoreboard.COLUMNS], scoreboard.rows(claims, "book"))
        seconds = sum(record["provenance"]["seconds"] for record in records.values())
        console.out.print(
            f"\n{len(records)} results, {len(claims)} claims, {computed} computed now,"
            f" {len(records) - computed} found; {seconds:.1f} s of computing in {outputs}"
        )
        if computed:
            console.out.print(
                "`bythebook report` and `bythebook ui` draw the figures and show them"
            )
    for name in failed:
        error = records[name]["error"]
        console.tell(f"{name} failed: {error['type']}: {error['message']}")
    for claim in unexpected:
        console.tell(
            f"{claim['experiment']}: {claim['claim']}:"
            f" {claim['verdict']}, expected {claim['expected']}"
            f" (printed {claim['printed']}, computed {claim['computed']}; {claim['judged']})"
        )
    return UNEXPECTED if failed or unexpected else OK
