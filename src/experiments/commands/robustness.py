"""`bythebook robustness`: repeat every result that has chance in it with other seeds."""

import argparse
import json
import os
from typing import NamedTuple

from rich.markup import escape

from experiments.commands import console, selecting
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder, writable
from experiments.contract.errors import BadInput
from experiments.contract.verdicts import CONSISTENT, REPRODUCED
from experiments.running.launchers import Processes
from experiments.running.runner import Done, perform_all
from experiments.sweeping import robustness
from experiments.sweeping.plan import Plan
from experiments.sweeping.run import run_sweep
from experiments.tracking.local import LocalTracker
from experiments.tracking.tracker import Forgiving
from models import datasets


def main(options: argparse.Namespace) -> int:
    """Exit 1 if a claim that is reproduced or consistent is so in fewer than 95 % of the seeds."""
    if options.seeds < 2:
        raise BadInput(f"--seeds {options.seeds} is not allowed; allowed: int >= 2")
    workers = options.jobs if options.jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise BadInput(f"--jobs {workers} is not allowed; allowed: int >= 1")
    outputs = outputs_folder(options.outputs)
    names = selecting.results(options, outputs)
    writable(outputs)
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
    counts: dict[str, robustness.Counts] = {name: {} for name in drawn}
    with _bar("with other seeds", len(cells)) as advance:

        def on_done(done: Done) -> None:
            name = plan.swept["experiment"][done.index]
            robustness.count(counts[name], drawn[name], done.record)
            advance()

        tracker = Forgiving(LocalTracker(outputs), console.tell)
        run_sweep(cells, plan, outputs, tracker, launcher, on_done=on_done)
    robustness.remember(outputs, {name: (drawn[name].code, counts[name]) for name in drawn})
    unsteady = _unsteady(drawn, counts)
    if options.json:
        print(json.dumps(counts, indent=1, ensure_ascii=False))
    elif options.markdown:
        print(_page(len(names), options.seeds, counts, unsteady), end="")
    else:
        rows = [[row.name, escape(row.says), row.expected, row.told] for row in unsteady]
        console.table(["experiment", "claim", "expected", "as expected in"], rows)
        total, fragile = sum(map(len, counts.values())), sum(row.fragile for row in unsteady)
        console.out.print(f"{total} claims of {len(drawn)} results, {fragile} fragile")
    good = (REPRODUCED, CONSISTENT)
    return UNEXPECTED if any(row.fragile and row.expected in good for row in unsteady) else OK


class _Unsteady(NamedTuple):
    """A claim that not every seed bears out."""

    share: float
    name: str
    says: str
    expected: str
    told: str
    fragile: bool


def _unsteady(jobs: dict[str, Job], counts: dict[str, robustness.Counts]) -> list[_Unsteady]:
    """The most fragile first."""
    found = []
    for name, job in jobs.items():
        originals = [n for n, entry in job.data.items() if entry["grade"] != datasets.STANDIN]
        for claim in job.claims:
            seeds = counts[name].get(claim.says, [0, 0])
            if seeds[0] < seeds[1]:
                told, fragile = robustness.in_words(seeds), robustness.is_fragile(seeds)
                expected = claim.expected(originals)
                share = seeds[0] / seeds[1]
                found.append(_Unsteady(share, name, claim.says, expected, told, fragile))
    return sorted(found)


def _page(
    results: int, seeds: int, counts: dict[str, robustness.Counts], unsteady: list[_Unsteady]
) -> str:
    """The page of the documentation: what was repeated, and what did not stand."""
    total = sum(map(len, counts.values()))
    fragile = sum(row.fragile for row in unsteady)
    cells = [
        f"| `{r.name}`: {r.says.replace('|', '/')} | {r.told} | {r.expected} |" for r in unsteady
    ]
    lines = [
        "# Other seeds",
        "",
        f"`bythebook robustness --seeds {seeds}` repeats every result that has chance in it,"
        f" {len(counts)} of {results}, with the seeds 0 to {seeds - 1}; stand-ins for data that",
        "cannot be had are drawn anew with each. The others draw nothing from their random"
        " stream, as their records say.",
        f"{total} claims were counted: {total - len(unsteady)} come out as their files expect in"
        f" every seed, {len(unsteady) - fragile} in all but one in twenty at most, {fragile} in"
        " fewer.",
        "",
        "| claim | as its file expects in | the file expects |",
        "| --- | ---: | --- |",
        *cells,
    ]
    return "\n".join(lines) + "\n"


class _bar:
    """A bar that counts."""

    def __init__(self, what: str, total: int) -> None:
        self.progress = console.counting()
        self.task = self.progress.add_task(what, total=total)

    def __enter__(self) -> "_bar":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def __call__(self) -> None:
        self.progress.advance(self.task)
