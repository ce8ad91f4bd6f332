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
from experiments.records.store import Record, RunStore
from experiments.running.limits import limited
from models import datasets
from models.compiled import threads

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
    """Run one job and record it, as failed if it raises or uses more than it may."""
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
    facts, store = {**order.facts, **took}, RunStore(order.outputs)
    outcome = computed.outcome if computed is not None else None
    if computed is not None:
        facts["chance"] = computed.chance
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
            if STOPPING.is_set():
                break
            folders.append(str(perform(job, order).folder))
    durable.sync(order.outputs)
    return folders


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread, also in BLAS: workers do not fight, and sums are added in one order."""
    with threadpool_limits(limits=1), threads(1):
        yield
