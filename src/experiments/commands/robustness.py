"""`bythebook robustness`: repeat every result that has chance in it with other seeds."""

import argparse
import json
import os
from collections import defaultdict

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments.commands import console
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.records.store import Record
from experiments.running.launchers import Processes
from experiments.running.runner import Done, perform_all
from experiments.sweeping import robustness
from experiments.sweeping.plan import Plan
from experiments.sweeping.run import run_sweep
from experiments.tracking.client import Forgiving, LocalTracker

FRAGILE = 0.95  # a verdict that holds in fewer seeds is told


def main(options: argparse.Namespace) -> int:
    """Exit 1 if a run fails, or a claim comes out as expected in fewer than 95 % of the seeds."""
    if options.seeds < 2:
        raise BadInput(f"--seeds {options.seeds} is not allowed; allowed: int >= 2")
    workers = options.jobs if options.jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadInput(f"--jobs {workers} is not allowed; allowed: int >= 1")
    names = catalogue.select(options.selection)
    outputs = writable(outputs_folder(options.outputs))
    data = options.data or os.environ.get("BOOK_DATA") or None
    jobs = {name: experiment_job(name, data) for name in names}
    launcher = Processes(workers)
    with _bar("once", len(jobs)) as advance:
        first = {}
        for done in perform_all(list(jobs.values()), outputs, launcher):
            first[names[done.index]] = done.record
            advance()
    drawn = {n: jobs[n] for n in names if first[n].finished and first[n]["provenance"]["chance"]}
    console.tell(f"{len(names) - len(drawn)} results have no chance in them, {len(drawn)} have")
    if not drawn:
        return OK
    cells = robustness.cells(drawn, options.seeds)
    plan = Plan.of(cells, ["robustness", *options.selection, f"seeds={options.seeds}"], None)
    runs: dict[str, list[Record]] = defaultdict(list)
    with _bar("with other seeds", len(cells)) as advance:

        def on_done(done: Done) -> None:
            runs[plan.swept["experiment"][done.index]].append(done.record)
            advance()

        tracker = Forgiving(LocalTracker(outputs), console.tell)
        run_sweep(cells, plan, outputs, tracker, launcher, on_done=on_done)
    found = {
        name: (drawn[name].code, robustness.counted(drawn[name], runs[name])) for name in drawn
    }
    robustness.remember(outputs, found)
    return _tell({name: counts for name, (_, counts) in found.items()}, as_json=options.json)


def _tell(found: dict[str, robustness.Counts], *, as_json: bool) -> int:
    fragile = [
        (name, says, counts)
        for name, claims in found.items()
        for says, counts in claims.items()
        if counts[0] < FRAGILE * counts[1]
    ]
    if as_json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        rows = [[name, escape(says), robustness.in_words(n)] for name, says, n in fragile]
        console.table(["experiment", "claim", "as expected in"], rows)
        total = sum(map(len, found.values()))
        console.out.print(f"{total} claims of {len(found)} results, {len(fragile)} fragile")
    return UNEXPECTED if fragile else OK


class _bar:
    """A bar that counts."""

    def __init__(self, what: str, total: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self.progress = Progress(*columns, TimeElapsedColumn(), console=console.err, transient=True)
        self.task = self.progress.add_task(what, total=total)

    def __enter__(self) -> "_bar":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def __call__(self) -> None:
        self.progress.advance(self.task)
