"""The runner: jobs in, records out, one by one or through a launcher."""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Addressed, Job
from experiments.records import durable
from experiments.records.reading import read, told
from experiments.records.record import Record
from experiments.records.store import Found, RunStore
from experiments.records.told import Told
from experiments.running.interrupts import Stopped, patient
from experiments.running.launchers import Launcher, Processes
from experiments.running.provenance import environment
from experiments.running.work import Order, Recorder, one_thread, perform

IN_PROCESS = Processes(1)
BATCH, PATIENCE = 50, 0.5  # runs, and seconds, after which what is done is told


@dataclass(frozen=True)
class Done:
    """A job's run, and whether it was computed now or found."""

    index: int
    found: Found
    computed: bool
    metric: str | None = None  # that the sweep is about

    @cached_property
    def record(self) -> Record:
        """All of it, read when asked for."""
        return self.found.record or read(self.found.folder)

    @cached_property
    def told(self) -> Told:
        """What tables and MLflow need of it."""
        return self.found.told or Told.of(self.record, self.metric)


def perform_all(
    jobs: Sequence[Job],
    outputs: Path,
    launcher: Launcher = IN_PROCESS,
    **options: Any,
) -> Generator[Done, None, None]:
    """Records in the order in which they come; what is already done is found, not computed.

    The options are those of an Order: `fresh`, `tables`, and the limits.
    """
    order = Order(outputs, environment(), **options)
    store = RunStore(outputs)
    waiting = []
    if order.fresh:
        waiting = list(range(len(jobs)))
    else:
        addresses = jobs.addresses() if isinstance(jobs, Addressed) else (j.address for j in jobs)
        for index, found in enumerate(store.finished(addresses, order.metric)):
            if found is not None:
                yield Done(index, found, computed=False, metric=order.metric)
            else:
                waiting.append(index)
    if len(waiting) == 1:
        with one_thread():
            record = perform(jobs[waiting[0]], order)
        durable.sync(outputs)
        yield _computed(waiting[0], record, order)
        return
    with patient() as stopped:
        computed = 0
        for done in _compute(jobs, waiting, order, launcher, stopped):
            computed += 1
            yield done
        if stopped() and computed < len(waiting):
            raise KeyboardInterrupt


def _computed(index: int, run: Record | Path, order: Order) -> Done:
    """A run that was made now, here or by a worker who tells where it is."""
    if isinstance(run, Record):
        found = Found(run.folder, record=run)
    else:
        found = Found(run, told(run, order.metric))
    return Done(index, found, computed=True, metric=order.metric)


def _compute(
    jobs: Sequence[Job], waiting: list[int], order: Order, launcher: Launcher, stopped: Stopped
) -> Iterator[Done]:
    if isinstance(launcher, Processes) and launcher.workers == 1:
        yield from _in_process(jobs, waiting, order, stopped)
        return
    # Chunks are large enough to spread their overhead, small enough to keep everyone busy.
    size = max(1, min(50, len(waiting) // (16 * launcher.workers)))
    chunks = _Chunks(jobs, waiting, size)
    missing: list[int] = []
    for chunk, folders in launcher.run(chunks, order, stopped):
        if folders is None:
            missing += chunks.indices(chunk)
        else:
            for index, folder in zip(chunks.indices(chunk), map(Path, folders), strict=False):
                yield _computed(index, folder, order)
    if missing and not stopped():
        yield from _one_at_a_time(jobs, missing, order, stopped)


def _in_process(
    jobs: Sequence[Job], waiting: list[int], order: Order, stopped: Stopped
) -> Iterator[Done]:
    """One after the other here; told of in batches, each written through to the disk before."""
    recorder, ran = Recorder(order), list[int]()
    last = time.monotonic()

    def recorded() -> Iterator[Done]:
        for index, folder in zip(ran, recorder.recorded(), strict=True):
            yield _computed(index, folder, order)
        ran.clear()

    for index in waiting:
        if stopped():
            break
        with one_thread():
            recorder.run(jobs[index])
        ran.append(index)
        if len(ran) == BATCH or time.monotonic() - last > PATIENCE:
            yield from recorded()
            last = time.monotonic()
    yield from recorded()


class _Chunks(Sequence[list[Job]]):
    """Jobs in chunks that are made when a launcher asks for them."""

    def __init__(self, jobs: Sequence[Job], indices: list[int], size: int) -> None:
        self.jobs, self.all, self.size = jobs, indices, size

    def __len__(self) -> int:
        return -(-len(self.all) // self.size)

    def __getitem__(self, number: Any) -> Any:
        return [self.jobs[index] for index in self.indices(number)]

    def indices(self, number: int) -> list[int]:
        return self.all[number * self.size : (number + 1) * self.size]


def _one_at_a_time(
    jobs: Sequence[Job], indices: list[int], order: Order, stopped: Stopped
) -> Iterator[Done]:
    """After a worker died: find the job that kills it, and let the others finish."""
    store = RunStore(order.outputs)
    again = []
    for index in indices:
        found = None if order.fresh else store.done(jobs[index])
        if found is not None:
            yield _computed(index, found, order)
        else:
            again.append(index)
    alone = Processes(1, ahead=0)
    for number, folders in alone.run(_Chunks(jobs, again, 1), order, stopped):
        index = again[number]
        if folders is None:
            message = "the process that ran it was killed (out of memory, or by hand)"
            error = {"type": "WorkerDied", "message": message, "traceback": ""}
            took = {"started": time.time(), "seconds": 0.0, "cpu_seconds": 0.0}
            record = store.write(jobs[index], {**order.facts, **took}, error=error)
            yield _computed(index, record, order)
        for folder in map(Path, folders or ()):
            yield _computed(index, folder, order)
