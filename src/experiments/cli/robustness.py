"""`bythebook robustness`: rerun stochastic results with other seeds and count their verdicts."""

import argparse
import json
import os
from typing import NamedTuple

from rich.markup import escape

from bythebook.experiments.api import selections
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.former_names import data_dir_from_environment
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.launchers import LocalLauncher
from bythebook.experiments.execution.runner import CompletedRun, run_jobs
from bythebook.experiments.sweeps import robustness
from bythebook.experiments.sweeps.plan import SweepPlan
from bythebook.experiments.sweeps.run import run_sweep
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker
from bythebook.models import datasets


def main(options: argparse.Namespace) -> int:
    """Return 1 if a claim is fragile (`is_fragile`), whichever verdict its file expects."""
    if options.seeds < 2:
        raise InputError(f"--seeds {options.seeds} is not allowed; allowed: int >= 2")
    workers = options.jobs if options.jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise InputError(f"--jobs {workers} is not allowed; allowed: int >= 1")
    outputs = resolve_output_dir(options.outputs)
    names = selections.select_results(options.selection, options.search, outputs)
    ensure_writable(outputs)
    data = options.data_dir or data_dir_from_environment()
    jobs = {name: load_job(name, data) for name in names}
    launcher = LocalLauncher(workers)
    with _Progress("first runs", len(jobs)) as advance:
        first = {}
        for done in run_jobs(list(jobs.values()), outputs, launcher):
            first[names[done.index]] = done.record
            advance()
    stochastic = {
        name: jobs[name]
        for name in names
        if first[name].finished and first[name]["provenance"]["chance"]
    }
    console.notify(
        f"skipped {len(names) - len(stochastic)} deterministic results; {len(stochastic)} are"
        " stochastic"
    )
    if not stochastic:
        return OK
    cells = robustness.seed_cells(stochastic, options.seeds)
    plan = SweepPlan.from_cells(
        cells, ["robustness", *options.selection, f"seeds={options.seeds}"], None
    )
    counts: dict[str, robustness.Counts] = {name: {} for name in stochastic}
    with _Progress("other seeds", len(cells)) as advance:

        def on_done(done: CompletedRun) -> None:
            name = plan.swept["experiment"][done.index]
            robustness.update_counts(counts[name], stochastic[name], done.record)
            advance()

        tracker = FaultTolerantTracker(LocalTracker(outputs), console.notify)
        run_sweep(cells, plan, outputs, tracker, launcher, on_done=on_done)
    robustness.save_counts(
        outputs, {name: (job.code_hash, counts[name]) for name, job in stochastic.items()}
    )
    dependent = _seed_dependent_claims(stochastic, counts)
    fragile = sum(row.fragile for row in dependent)
    if options.json:
        by_text = {name: _by_text(job, counts[name]) for name, job in stochastic.items()}
        print(json.dumps(by_text, indent=1, ensure_ascii=False))
    elif options.markdown:
        print(_page(len(names), options.seeds, counts, dependent), end="")
    else:
        rows = [[row.name, escape(row.says), row.expected, row.agreement] for row in dependent]
        console.table(["experiment", "claim", "expected", "agreement over seeds"], rows)
        total = sum(map(len, counts.values()))
        console.out.print(f"{total} claims of {len(stochastic)} results, {fragile} fragile")
    return UNEXPECTED if fragile else OK


class _SeedDependentClaim(NamedTuple):
    """A claim that does not get the expected verdict with every seed."""

    share: float
    name: str
    says: str
    expected: str
    agreement: str
    fragile: bool


def _seed_dependent_claims(
    jobs: dict[str, Job], counts: dict[str, robustness.Counts]
) -> list[_SeedDependentClaim]:
    """The claims without full agreement, in the order of increasing agreement."""
    rows = []
    for name, job in jobs.items():
        originals = [n for n, entry in job.data.items() if entry["grade"] != datasets.STANDIN]
        for key, claim in zip(robustness.claim_keys(job.claims), job.claims, strict=True):
            seeds = counts[name].get(key, [0, 0])
            if seeds[0] < seeds[1]:
                row = _SeedDependentClaim(
                    seeds[0] / seeds[1],
                    name,
                    claim.says,
                    claim.expected_verdict(originals),
                    robustness.format_counts(seeds),
                    robustness.is_fragile(seeds),
                )
                rows.append(row)
    return sorted(rows)


def _by_text(job: Job, counts: robustness.Counts) -> robustness.Counts:
    """The counts by the words of the claims, for readers of the JSON output."""
    keys = robustness.claim_keys(job.claims)
    texts = {key: claim.says for key, claim in zip(keys, job.claims, strict=True)}
    return {texts[key]: seeds for key, seeds in counts.items()}


def _page(
    n_results: int,
    seeds: int,
    counts: dict[str, robustness.Counts],
    dependent: list[_SeedDependentClaim],
) -> str:
    """The Markdown page of the documentation."""
    total = sum(map(len, counts.values()))
    fragile = sum(row.fragile for row in dependent)
    rows = [
        f"| `{row.name}`: {row.says.replace('|', '/')} | {row.agreement} | {row.expected} |"
        for row in dependent
    ]
    lines = [
        "# Other seeds",
        "",
        f"`bythebook robustness --seeds {seeds}` reruns all stochastic results,"
        f" {len(counts)} of {n_results}, with the seeds 0 to {seeds - 1}. Stand-ins for data that",
        "are not available are drawn again with each seed. The other results use no random"
        " numbers, as their records show.",
        f"Of {total} claims, {total - len(dependent)} get the expected verdict with every seed,"
        f" {len(dependent) - fragile} with at least 95 % of the seeds, and {fragile} with fewer.",
        "",
        "| claim | agreement over seeds | expected verdict |",
        "| --- | ---: | --- |",
        *rows,
    ]
    return "\n".join(lines) + "\n"


class _Progress:
    """A progress bar; each call advances it by one."""

    def __init__(self, description: str, total: int) -> None:
        self.progress = console.progress_bar()
        self.task = self.progress.add_task(description, total=total)

    def __enter__(self) -> "_Progress":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def __call__(self) -> None:
        self.progress.advance(self.task)
