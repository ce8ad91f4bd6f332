"""Run a single configuration, draw and log it, and print its verdicts."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape

from bythebook.experiments.api import pipeline
from bythebook.experiments.cli import console
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.job import Job
from bythebook.experiments.config.paths import ensure_writable, resolve_output_dir
from bythebook.experiments.config.schema import RunSettings
from bythebook.experiments.core.claim_blocks import DERIVED, claim_blocks
from bythebook.experiments.execution.runner import CompletedRun
from bythebook.experiments.sweeps.robustness import claim_key
from bythebook.experiments.tracking.local import make_tracker
from bythebook.experiments.tracking.tracker import FaultTolerantTracker, Tracker


def run(
    job: Job, cfg: RunSettings, tags: Mapping[str, str] | None = None, *, verbose: bool = False
) -> int:
    """Run a job and return the exit code."""
    outputs = ensure_writable(resolve_output_dir(cfg.outputs))
    done, drawn = pipeline.run_one(
        job,
        outputs,
        tracker_for(cfg, outputs),
        notify=console.notify,
        figures=cfg.figures,
        own_tags=tags,
        force=cfg.force,
        **limit_options(cfg),
    )
    code = _print_verdicts(job, done, verbose=verbose)
    return code if drawn else UNEXPECTED


def limit_options(cfg: RunSettings) -> dict[str, Any]:
    """The resource limits of a run, as keyword arguments of `run_jobs`."""
    return dataclasses.asdict(cfg.limits)


def tracker_for(cfg: RunSettings, outputs: Path) -> Tracker | None:
    """The tracker for the settings; it reports errors instead of raising them."""
    tracker = make_tracker(cfg.tracking, cfg.tracking_uri, outputs)
    return FaultTolerantTracker(tracker, console.notify) if tracker is not None else None


def _print_verdicts(job: Job, done: CompletedRun, *, verbose: bool) -> int:
    record, out = done.record, console.out
    state = "computed" if done.computed else "already recorded (force=true computes it again)"
    seconds = record["provenance"]["seconds"]
    out.print(f"[bold]{escape(job.title)}[/bold]  run {record.id}  {state}, {seconds:.3f} s")
    if not record.finished:
        error = record["error"]
        console.notify(f"the run failed: {error['type']}: {error['message']}")
        console.notify(f"traceback in {record.folder / 'run.json'}")
        return UNEXPECTED
    if record.verdicts:
        if not job.canonical:
            out.print(
                "[dim]settings differ from the published ones;"
                " the claims are evaluated anyway[/dim]"
            )
        console.print_claims(claim_blocks(record.verdicts), verbose=verbose)
        evaluated = set(map(claim_key, record.verdicts))
        for claim in job.claims:
            if claim_key(claim) not in evaluated and (verbose or claim.origin != DERIVED):
                expression, says = escape(claim.expression), escape(claim.says)
                line = f"not evaluated: {says}: this run lacks a quantity of {expression}"
                out.print(f"[dim]{line}[/dim]")
    else:
        rows = [(escape(k), _format_metric(v)) for k, v in record.metrics.items()]
        console.table(["metric", "value"], rows)
        if job.claims:
            out.print(
                f"[dim]{len(job.claims)} claims not evaluated: required quantities are"
                " missing[/dim]"
            )
    console.print_not_converged(record.not_converged)
    out.print(f"[dim]{escape(str(record.folder))}[/dim]")
    return UNEXPECTED if job.canonical and record.unexpected_verdicts else OK


def _format_metric(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))
