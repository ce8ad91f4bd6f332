"""The runner: jobs in, records out, one by one or through a launcher."""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.configuration.jobs import Job
from experiments.records import durable
from experiments.records.store import Record, RunStore, read
from experiments.running.interrupts import Stopped, patient
from experiments.running.launchers import Launcher, Processes
from experiments.running.provenance import environment
from experiments.running.work import Order, one_thread, perform

IN_PROCESS = Processes(1)
BATCH, PATIENCE = 50, 0.5  # runs, and seconds, after which what is done is told


@dataclass(frozen=True)
class Done:
    """A job's record, and whether it was computed now or found."""

    index: int
    record: Record
    computed: bool


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
    for index, job in enumerate(jobs):
        found = None if order.fresh else store.done(job)
        if found is not None:
            yield Done(index, found, computed=False)
        else:
            waiting.append(index)
    if len(waiting) == 1:
        with one_thread():
            record = perform(jobs[waiting[0]], order)
        durable.sync(outputs)
        yield Done(waiting[0], record, computed=True)
        return
    with patient() as stopped:
        computed = 0
        for done in _compute(jobs, waiting, order, launcher, stopped):
            computed += 1
            yield done
        if stopped() and computed < len(waiting):
            raise KeyboardInterrupt


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
            for index, folder in zip(chunks.indices(chunk), folders, strict=False):
                yield Done(index, read(Path(folder)), computed=True)
    if missing and not stopped():
        yield from _one_at_a_time(jobs, missing, order, stopped)


def _in_process(
    jobs: Sequence[Job], waiting: list[int], order: Order, stopped: Stopped
) -> Iterator[Done]:
    """One after the other here; told of in batches, each written through to the disk before."""
    done: list[Done] = []
    told = time.monotonic()
    for index in waiting:
        if stopped():
            break
        with one_thread():
            done.append(Done(index, perform(jobs[index], order), computed=True))
        if len(done) == BATCH or time.monotonic() - told > PATIENCE:
            durable.sync(order.outputs)
            yield from done
            done, told = [], time.monotonic()
    if done:
        durable.sync(order.outputs)
        yield from done


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
            yield Done(index, found, computed=True)
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
            yield Done(index, record, computed=True)
        for folder in folders or ():
            yield Done(index, read(Path(folder)), computed=True)
