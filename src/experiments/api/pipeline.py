"""Run jobs, draw their figures and log them, for the commands and the Python interface."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.launchers import Launcher
from bythebook.experiments.execution.runner import CompletedRun, run_jobs
from bythebook.experiments.store import artifacts, tags
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking.equation_runs import log_equations
from bythebook.experiments.tracking.payload import (
    VERDICT_DIGEST_TAG,
    Payload,
    run_payload,
    verdict_digest,
    verdict_update,
)
from bythebook.experiments.tracking.tracker import Tracker

BATCH_SIZE = 25  # records that are logged together


def run_one(
    job: Job,
    outputs: Path,
    tracker: Tracker | None,
    *,
    notify: Callable[[str], None],
    figures: bool = True,
    own_tags: Mapping[str, str] | None = None,
    **options: Any,
) -> tuple[CompletedRun, bool]:
    """Run a job, draw its figures and log it.

    The second value is false if the figures could not be drawn; `notify` is called with the reason.
    """
    (done,) = run_jobs([job], outputs, **options)
    drawn = not figures or _draw(done.record, notify)
    tags.add_tags(done.record.folder, own_tags or {})
    if tracker is not None:
        tracker.log_runs([run_payload(done.record)])
        if own_tags and not done.computed:
            tracker.log_runs([verdict_update(done.record)])
    return done, drawn


def _draw(record: Record, notify: Callable[[str], None]) -> bool:
    """Draw the figures; numbers that cannot be drawn cost the figures, not the run."""
    try:
        with _gc_disabled():
            artifacts.ensure_artifacts(record)
    except (InputError, OSError):
        raise
    except Exception as error:
        notify(f"could not draw the figures: {type(error).__name__}: {error}")
        return False
    return True


@contextmanager
def _gc_disabled() -> Iterator[None]:
    """Disable garbage collection: Matplotlib creates many objects, and a run has few figures."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def run_many(
    jobs: Sequence[Job],
    outputs: Path,
    tracker: Tracker | None,
    launcher: Launcher,
    *,
    own_tags: Mapping[str, str] | None = None,
    force: bool = False,
) -> Iterator[CompletedRun]:
    """Run many jobs and write their tables; log new runs and new verdicts in batches."""
    pending: list[Payload] = []
    digests = tracker.run_tags(VERDICT_DIGEST_TAG) if tracker is not None else {}
    for done in run_jobs(jobs, outputs, launcher, force=force, tables=True):
        tags.add_tags(done.record.folder, own_tags or {})
        pending += _pending_payloads(done.record, digests)
        if tracker is not None and len(pending) >= BATCH_SIZE:
            tracker.log_runs(pending)
            pending = []
        yield done
    if tracker is not None:
        if pending:
            tracker.log_runs(pending)
        log_equations(outputs, tracker, digests)


def _pending_payloads(record: Record, digests: Mapping[str, str]) -> list[Payload]:
    """The payload of a new run, the update of changed verdicts, or nothing.

    `digests` maps the id of each logged run to the digest of the verdicts that MLflow shows.
    """
    if record.id not in digests:
        return [run_payload(record)]
    return [verdict_update(record)] if digests[record.id] != verdict_digest(record) else []


def validate_metric(metric: str | None, job: Job, outputs: Path, **options: Any) -> None:
    """Run the first job of a sweep and raise `InputError` if it does not have the metric."""
    if metric is not None:
        # A single run needs no Hydra, which `recorded_sweeps` imports.
        from bythebook.experiments.sweeps.recorded_sweeps import validate_metric

        (first,) = run_jobs([job], outputs, **options)
        if first.record.finished:
            validate_metric(metric, first.record.outcome, first.record.metrics)
