"""Runner: turns jobs into recorded runs, in this process or through a launcher."""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bythebook.experiments.config.job import Job, LazyJobs
from bythebook.experiments.execution.launchers import Launcher, LocalLauncher
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.signals import StopCheck, graceful_interrupts
from bythebook.experiments.execution.worker import (
    RunOptions,
    RunWriter,
    run_and_record,
    single_threaded,
)
from bythebook.experiments.store import fsync
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_reader import load_summary, read_run
from bythebook.experiments.store.run_store import RunStore, StoredRun
from bythebook.experiments.store.run_summary import RunSummary

SERIAL = LocalLauncher(1)
# A serial sweep records and reports its runs after so many runs, or after this time.
FLUSH_SIZE, FLUSH_INTERVAL_S = 50, 0.5


@dataclass(frozen=True)
class CompletedRun:
    """A job's run, and whether it was computed now or cached."""

    index: int
    stored_run: StoredRun
    computed: bool
    metric: str | None = None  # an expression: the metric of the sweep

    @cached_property
    def record(self) -> Record:
        """The record, which is read on demand."""
        return self.stored_run.record or read_run(self.stored_run.folder)

    @cached_property
    def summary(self) -> RunSummary:
        """The fields that tables and MLflow show."""
        return self.stored_run.summary or RunSummary.from_record(self.record, self.metric)


def run_jobs(
    jobs: Sequence[Job],
    outputs: Path,
    launcher: Launcher = SERIAL,
    **fields: Any,
) -> Generator[CompletedRun, None, None]:
    """Run jobs, and yield the runs as they are completed; cached runs are not computed again.

    The keyword arguments are fields of `RunOptions`: `force`, `tables`, `metric` and the limits.
    """
    options = RunOptions(outputs, collect_environment(), **fields)
    store = RunStore(outputs)
    waiting = []
    if options.force:
        waiting = list(range(len(jobs)))
    else:
        locations = jobs.locations() if isinstance(jobs, LazyJobs) else (j.location for j in jobs)
        for index, stored_run in enumerate(store.find_all_completed(locations, options.metric)):
            if stored_run is not None:
                yield CompletedRun(index, stored_run, computed=False, metric=options.metric)
            else:
                waiting.append(index)
    if len(waiting) == 1:
        with single_threaded():
            record = run_and_record(jobs[waiting[0]], options)
        fsync.fsync_filesystem(outputs)
        yield _computed(waiting[0], record, options)
        return
    with graceful_interrupts() as stopped:
        computed = 0
        for done in _compute(jobs, waiting, options, launcher, stopped):
            computed += 1
            yield done
        if stopped() and computed < len(waiting):
            raise KeyboardInterrupt


def _computed(index: int, run: Record | Path, options: RunOptions) -> CompletedRun:
    """A run that was computed now, here or by a worker that returned its folder."""
    if isinstance(run, Record):
        stored_run = StoredRun(run.folder, record=run)
    else:
        stored_run = StoredRun(run, load_summary(run, options.metric))
    return CompletedRun(index, stored_run, computed=True, metric=options.metric)


def _compute(
    jobs: Sequence[Job],
    waiting: list[int],
    options: RunOptions,
    launcher: Launcher,
    stopped: StopCheck,
) -> Iterator[CompletedRun]:
    if isinstance(launcher, LocalLauncher) and launcher.workers == 1:
        yield from _run_serially(jobs, waiting, options, stopped)
        return
    # Large chunks have less overhead; small ones keep all workers busy until the end.
    size = max(1, min(50, len(waiting) // (16 * launcher.workers)))
    chunks = _Chunks(jobs, waiting, size)
    missing: list[int] = []
    for chunk, folders in launcher.run(chunks, options, stopped):
        if folders is None:
            missing += chunks.indices(chunk)
        else:
            for index, folder in zip(chunks.indices(chunk), map(Path, folders), strict=False):
                yield _computed(index, folder, options)
    if missing and not stopped():
        yield from _run_one_by_one(jobs, missing, options, stopped)


def _run_serially(
    jobs: Sequence[Job], waiting: list[int], options: RunOptions, stopped: StopCheck
) -> Iterator[CompletedRun]:
    """Run jobs one after the other; they are reported in batches, after a flush to the disk."""
    writer, indices = RunWriter(options), list[int]()
    last = time.monotonic()

    def save() -> Iterator[CompletedRun]:
        for index, folder in zip(indices, writer.saved_folders(), strict=True):
            yield _computed(index, folder, options)
        indices.clear()

    for index in waiting:
        if stopped():
            break
        with single_threaded():
            writer.run(jobs[index])
        indices.append(index)
        if len(indices) == FLUSH_SIZE or time.monotonic() - last > FLUSH_INTERVAL_S:
            yield from save()
            last = time.monotonic()
    yield from save()


class _Chunks(Sequence[list[Job]]):
    """Jobs in chunks, which are built on access."""

    def __init__(self, jobs: Sequence[Job], indices: list[int], size: int) -> None:
        self.jobs, self.all_indices, self.size = jobs, indices, size

    def __len__(self) -> int:
        return -(-len(self.all_indices) // self.size)

    def __getitem__(self, number: Any) -> Any:
        return [self.jobs[index] for index in self.indices(number)]

    def indices(self, number: int) -> list[int]:
        """The indices of the jobs of a chunk."""
        return self.all_indices[number * self.size : (number + 1) * self.size]


def _run_one_by_one(
    jobs: Sequence[Job], indices: list[int], options: RunOptions, stopped: StopCheck
) -> Iterator[CompletedRun]:
    """Run the jobs of a dead worker one at a time, to find the job that ended it."""
    store = RunStore(options.outputs)
    remaining = []
    for index in indices:
        record = None if options.force else store.find_completed(jobs[index])
        if record is not None:
            yield _computed(index, record, options)
        else:
            remaining.append(index)
    launcher = LocalLauncher(1, prefetch=0)
    for number, folders in launcher.run(_Chunks(jobs, remaining, 1), options, stopped):
        index = remaining[number]
        if folders is None:
            message = "the worker process was killed (out of memory, or by a user)"
            error = {"type": "WorkerDied", "message": message, "traceback": ""}
            times = {"started": time.time(), "seconds": 0.0, "cpu_seconds": 0.0}
            record = store.save(jobs[index], {**options.environment, **times}, error=error)
            yield _computed(index, record, options)
        for folder in map(Path, folders or ()):
            yield _computed(index, folder, options)
