"""A single run: performed, drawn, logged and told of."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape

from experiments.commands import console, performing
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration.jobs import Job
from experiments.configuration.paths import outputs_folder, writable
from experiments.configuration.schema import Settings
from experiments.running.runner import Done
from experiments.tracking.local import open_tracker
from experiments.tracking.tracker import Forgiving, Tracker


def run(job: Job, cfg: Settings, tags: Mapping[str, str] | None = None) -> int:
    """Perform a job; the exit code says how it went."""
    outputs = writable(outputs_folder(cfg.outputs))
    done, drawn = performing.one(
        job,
        outputs,
        tracker_of(cfg, outputs),
        tell=console.tell,
        figures=cfg.figures,
        own_tags=tags,
        fresh=cfg.fresh,
        **limits(cfg),
    )
    code = _tell(job, done)
    return code if drawn else UNEXPECTED


def limits(cfg: Settings) -> dict[str, Any]:
    """What a run may use, as options of an order."""
    return dataclasses.asdict(cfg.limit)


def tracker_of(cfg: Settings, outputs: Path) -> Tracker | None:
    """Where runs are logged; what fails there is told and costs no run."""
    tracker = open_tracker(cfg.tracking.kind, cfg.tracking.uri, outputs)
    return Forgiving(tracker, console.tell) if tracker is not None else None


def _tell(job: Job, done: Done) -> int:
    record, out = done.record, console.out
    how = "computed" if done.computed else "already recorded (fresh=true computes it again)"
    seconds = record["provenance"]["seconds"]
    out.print(f"[bold]{escape(job.title)}[/bold]  run {record.id}  {how}, {seconds:.3f} s")
    if not record.finished:
        error = record["error"]
        console.tell(f"the run failed: {error['type']}: {error['message']}")
        console.tell(f"traceback in {record.folder / 'run.json'}")
        return UNEXPECTED
    if record.verdicts:
        if not job.canonical:
            out.print(
                "[dim]settings differ from the book's; the claims are judged all the same[/dim]"
            )
        console.claims_table(record.verdicts)
        judged = {verdict["says"] for verdict in record.verdicts}
        for claim in job.claims:
            if claim.says not in judged:
                name = escape(claim.expression)
                out.print(f"[dim]not judged, for want of {name}: {escape(claim.says)}[/dim]")
    else:
        rows = [(escape(k), _shown(v)) for k, v in record.metrics.items()]
        console.table(["metric", "value"], rows)
        if job.claims:
            out.print(
                f"[dim]{len(job.claims)} claims not judged: what they speak of is not here[/dim]"
            )
    out.print(f"[dim]{escape(str(record.folder))}[/dim]")
    return UNEXPECTED if job.canonical and record.surprises else OK


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))
