"""What `run`, `reproduce` and the Python interface share: jobs into records, and into MLflow."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.records import run_files, tags
from experiments.records.record import Record
from experiments.running.launchers import Launcher
from experiments.running.runner import Done, perform_all
from experiments.tracking.runs import JUDGED, Payload, judged, payload, refreshed
from experiments.tracking.tracker import Tracker

BATCH = 25  # records logged at once


def one(
    job: Job,
    outputs: Path,
    tracker: Tracker | None,
    *,
    tell: Callable[[str], None],
    figures: bool = True,
    own_tags: Mapping[str, str] | None = None,
    **options: Any,
) -> tuple[Done, bool]:
    """Run one job, draw it, log it; whether what was to be drawn could be."""
    (done,) = perform_all([job], outputs, **options)
    drawn = not figures or _draw(done.record, tell)
    tags.add(done.record.folder, own_tags or {})
    if tracker is not None:
        tracker.put([payload(done.record)])
        if own_tags and not done.computed:
            tracker.put([refreshed(done.record)])
    return done, drawn


def _draw(record: Record, tell: Callable[[str], None]) -> bool:
    """Draw; strange numbers that no figure can hold cost the figures and not the run."""
    try:
        with _uncollected():
            run_files.ensure(record)
    except (BadInput, OSError):
        raise
    except Exception as error:
        tell(f"the figures cannot be drawn: {type(error).__name__}: {error}")
        return False
    return True


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage among all that matplotlib makes: a run's few figures are small."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def selected(
    jobs: Sequence[Job],
    outputs: Path,
    tracker: Tracker | None,
    launcher: Launcher,
    *,
    own_tags: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> Iterator[Done]:
    """Run many results with their tables; MLflow is told, in batches, what it does not know."""
    waiting: list[Payload] = []
    shown = tracker.tagged(JUDGED) if tracker is not None else {}
    for done in perform_all(jobs, outputs, launcher, fresh=fresh, tables=True):
        tags.add(done.record.folder, own_tags or {})
        waiting += _news(done.record, shown)
        if tracker is not None and len(waiting) >= BATCH:
            tracker.put(waiting)
            waiting = []
        yield done
    if tracker is not None and waiting:
        tracker.put(waiting)


def _news(record: Record, shown: Mapping[str, str]) -> list[Payload]:
    """What MLflow does not know of a run: all of it, other verdicts than it shows, or nothing."""
    if record.id not in shown:
        return [payload(record)]
    return [refreshed(record)] if shown[record.id] != judged(record) else []


def try_metric(metric: str | None, job: Job, outputs: Path, **options: Any) -> None:
    """Refuse a sweep's metric that its first cell does not have, before the others are run."""
    if metric is not None:
        from experiments.sweeping.recorded import check_metric  # a single run needs no Hydra

        (first,) = perform_all([job], outputs, **options)
        if first.record.finished:
            check_metric(metric, first.record.outcome, first.record.metrics)
