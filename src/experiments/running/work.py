"""One worker's share: jobs into records, one after the other."""

import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.random import Generator
from threadpoolctl import threadpool_limits

from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.contract.streams import generator
from experiments.records import durable, run_files
from experiments.records.drafts import Draft, drafted
from experiments.records.record import Record
from experiments.records.store import RunStore
from experiments.running.limits import limited
from models import datasets
from models.compiled import threads

Chunk = list[Job]
Results = Iterator[tuple[int, list[str] | None]]  # number of the chunk, folders of its runs
KEPT = 0.25  # seconds, after which a worker records what it has made
STOPPING = threading.Event()  # a worker that is asked to stop does so after the run it is at


@dataclass(frozen=True)
class Order:
    """What every worker is told, whatever jobs it gets."""

    outputs: Path
    facts: dict[str, Any]
    fresh: bool = False
    tables: bool = False
    seconds: float | None = None
    memory_gb: float | None = None
    metric: str | None = None  # an expression that a sweep is about


class Computed(NamedTuple):
    """What a study found, and whether chance had a part in it."""

    outcome: Outcome
    chance: bool


def compute(job: Job) -> Computed:
    """Run the study. Same job, same bits: one BLAS thread, the job's own random stream."""
    rng = generator(job.seed)
    before = _state(rng)
    with datasets.originals_in(job.data_dir, job.seed):
        outcome = job.study.run(rng)
        drawn = any(datasets.is_drawn(name) for name in job.study.data_sets())
    return Computed(outcome, chance=drawn or _state(rng) != before)


def _state(rng: Generator) -> str:
    """Where a stream is: a study that draws nothing from it leaves it there."""
    seeds: Any = rng.bit_generator.seed_seq
    return f"{rng.bit_generator.state} {seeds.n_children_spawned}"


def perform(job: Job, order: Order) -> Record:
    """Run one job and record it in a folder, as failed if it raises or uses more than it may."""
    made, store = _made(job, order), RunStore(order.outputs)
    try:
        record = store.write(
            job, made.facts, outcome=made.outcome, error=made.error, adopt=not order.fresh
        )
    except (TypeError, ValueError) as problem:  # the study returned what is neither JSON nor array
        record = store.write(job, made.facts, error=_told(problem))
    if order.tables:
        run_files.ensure_tables(record)
    return record


class _Made(NamedTuple):
    """A run before it is recorded."""

    facts: dict[str, Any]
    outcome: Outcome | None
    error: dict[str, str] | None


def _made(job: Job, order: Order) -> _Made:
    started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
    computed, error = None, None
    try:
        with limited(order.seconds, order.memory_gb):
            computed = compute(job)
    except (BadInput, datasets.DataError):
        raise
    except Exception as problem:
        error = _told(problem)
    took = {
        "started": started,
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
    }
    if computed is None:
        return _Made({**order.facts, **took}, None, error)
    return _Made({**order.facts, **took, "chance": computed.chance}, computed.outcome, None)


class Recorder:
    """Runs jobs and records them: a sweep's cells a group at a time, results in folders at once."""

    def __init__(self, order: Order) -> None:
        self.order, self.store = order, RunStore(order.outputs)
        self._folders: list[Path | None] = []
        self._drafts: list[Draft] = []
        self._loose = False  # is anything in folders that may not be on the disk yet?

    def run(self, job: Job) -> None:
        if job.canonical or self.order.tables:
            self._folders.append(perform(job, self.order).folder)
            self._loose = True
            return
        made, place = _made(job, self.order), self.store.place(job)
        try:
            draft = drafted(place, job, made.facts, outcome=made.outcome, error=made.error)
        except (TypeError, ValueError) as problem:  # neither JSON nor array, as above
            draft = drafted(place, job, made.facts, error=_told(problem))
        self._folders.append(None)
        self._drafts.append(draft)

    def recorded(self) -> list[Path]:
        """Where the runs since the last time are, written through to the disk."""
        written = self.store.write_all(
            self._drafts, adopt=not self.order.fresh, metric=self.order.metric
        )
        if self._loose:
            durable.sync(self.order.outputs)
        rest = iter(written)
        found = [folder or next(rest) for folder in self._folders]
        self._folders, self._drafts, self._loose = [], [], False
        return found


def _told(problem: Exception) -> dict[str, str]:
    return {
        "type": type(problem).__name__,
        "message": str(problem),
        "traceback": traceback.format_exc(),
    }


def run_chunk(jobs: list[Job], order: Order) -> list[str]:
    """What a worker does: run its jobs, and tell where the records are."""
    recorder, folders, kept = Recorder(order), list[Path](), time.monotonic()
    with one_thread():
        for job in jobs:
            if STOPPING.is_set():
                break
            recorder.run(job)
            if time.monotonic() - kept > KEPT:  # so little a worker that dies takes along
                folders += recorder.recorded()
                kept = time.monotonic()
    return [str(folder) for folder in [*folders, *recorder.recorded()]]


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread, also in BLAS: workers do not fight, and sums are added in one order."""
    with threadpool_limits(limits=1), threads(1):
        yield
