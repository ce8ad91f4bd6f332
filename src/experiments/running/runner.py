"""The runner: jobs in, records out, one by one or through a launcher."""

import json
import os
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.contract.streams import generator
from experiments.records import run_files
from experiments.records.store import Record, RunStore, read
from experiments.running.interrupts import Stopped, patient
from experiments.running.launchers import Launcher, Order, Processes, asked_to_stop
from experiments.running.limits import limited
from experiments.running.provenance import environment
from models import datasets
from models.compiled import threads

IN_PROCESS = Processes(1)


@dataclass(frozen=True)
class Done:
    """A job's record, and whether it was computed now or found."""

    index: int
    record: Record
    computed: bool


def compute(job: Job) -> Outcome:
    """Run the study. Same job, same bits: one BLAS thread, the job's own random stream."""
    with datasets.originals_in(job.data_dir):
        outcome: Outcome = job.study.run(generator(_stream(job), job.seed))
        return outcome


def _stream(job: Job) -> str:
    """The name of the random stream: during the move, that of the study's old name."""
    table = os.environ.get("BYTHEBOOK_OLD_STREAMS")
    old = json.loads(Path(table).read_text()) if table else {}
    return str(old.get(job.experiment, job.study.name))


def perform(job: Job, order: Order) -> Record:
    """Run one job and record it, as failed if it raises or uses more than it may."""
    started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
    outcome, error = None, None
    try:
        with limited(order.seconds, order.memory_gb):
            outcome = compute(job)
    except (BadInput, datasets.DataError):
        raise
    except Exception as problem:
        outcome, error = None, _told(problem)
    took = {
        "started": started,
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
    }
    facts, store = {**order.facts, **took}, RunStore(order.outputs)
    try:
        record = store.write(job, facts, outcome=outcome, error=error, adopt=not order.fresh)
    except (TypeError, ValueError) as problem:  # the study returned what is neither JSON nor array
        record = store.write(job, facts, error=_told(problem))
    if order.tables:
        run_files.ensure_tables(record)
    return record


def _told(problem: Exception) -> dict[str, str]:
    return {
        "type": type(problem).__name__,
        "message": str(problem),
        "traceback": traceback.format_exc(),
    }


def run_chunk(jobs: list[Job], order: Order) -> list[str]:
    """What a worker does: run its jobs, and tell where the records are."""
    folders = []
    with one_thread():
        for job in jobs:
            if asked_to_stop():
                break
            folders.append(str(perform(job, order).folder))
    return folders


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread, also in BLAS: workers do not fight, and sums are added in one order."""
    with threadpool_limits(limits=1), threads(1):
        yield


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
            yield Done(waiting[0], perform(jobs[waiting[0]], order), computed=True)
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
        with one_thread():
            for index in waiting:
                if stopped():
                    return
                yield Done(index, perform(jobs[index], order), computed=True)
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
