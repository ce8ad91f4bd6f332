"""The runner: jobs in, records out, one by one or on several processes."""

import multiprocessing
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments import artifacts
from experiments.claims import Verdict, judge
from experiments.config import Job
from experiments.errors import BadInput
from experiments.outcome import Outcome
from experiments.provenance import environment
from experiments.records import Record, RunStore, read
from experiments.study import generator
from models import datasets


@dataclass(frozen=True)
class Done:
    """A job's record, and whether it was computed now or found."""

    index: int
    record: Record
    computed: bool


def compute(job: Job) -> Outcome:
    """Run the study. Same job, same bits: one BLAS thread, the job's own random stream."""
    with datasets.originals_in(job.data_dir):
        return job.study.run(generator(job.study.name, job.seed))


def verdicts(job: Job, outcome: Outcome) -> list[Verdict]:
    """Judge every claim; with changed knobs, those whose quantity still exists."""
    claims = job.claims
    if not job.canonical:
        known = outcome.metrics.keys() | outcome.arrays.keys()
        claims = tuple(c for c in claims if (c.draws or c.metric) in known)
    return [judge(claim, outcome, job.grade) for claim in claims]


def perform(job: Job, store: RunStore, facts: dict[str, Any], *, fresh: bool = False) -> Record:
    """Run one job and record it, as failed if it raises."""
    started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
    outcome, judged, error = None, None, None
    try:
        outcome = compute(job)
        judged = verdicts(job, outcome)
    except (BadInput, datasets.DataError):
        raise
    except Exception as problem:
        outcome = None
        error = {
            "type": type(problem).__name__,
            "message": str(problem),
            "traceback": traceback.format_exc(),
        }
    took = {
        "started": started,
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
    }
    return store.write(
        job, {**facts, **took}, outcome=outcome, verdicts=judged, error=error, adopt=not fresh
    )


def perform_all(
    jobs: Sequence[Job],
    outputs: Path,
    *,
    workers: int = 1,
    fresh: bool = False,
    figures: bool = False,
) -> Iterator[Done]:
    """Records in the order in which they come; what is already done is found, not computed."""
    store = RunStore(outputs)
    facts = environment()
    waiting = []
    for index, job in enumerate(jobs):
        found = None if fresh else store.done(job)
        if found is not None:
            yield Done(index, found, computed=False)
        else:
            waiting.append(index)
    if workers == 1 or len(waiting) < 2:
        with one_thread():
            for index in waiting:
                record = perform(jobs[index], store, facts, fresh=fresh)
                if figures:
                    artifacts.ensure(record)
                yield Done(index, record, computed=True)
    else:
        order = _Order(outputs, facts, fresh, figures)
        yield from _in_processes(jobs, waiting, order, workers)


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread: workers do not fight, and sums are added in one order."""
    with threadpool_limits(limits=1):
        yield


@dataclass(frozen=True)
class _Order:
    """What every worker is told, whatever jobs it gets."""

    outputs: Path
    facts: dict[str, Any]
    fresh: bool
    figures: bool


def _in_processes(
    jobs: Sequence[Job], waiting: list[int], order: _Order, workers: int
) -> Iterator[Done]:
    # Chunks are large enough to spread their overhead, small enough to keep everyone busy.
    size = max(1, min(50, len(waiting) // (4 * workers)))
    chunks = [waiting[i : i + size] for i in range(0, len(waiting), size)]
    missing: list[int] = []
    with _pool(workers) as pool:
        futures: dict[Future[list[str]], list[int]] = {
            pool.submit(_chunk, [jobs[i] for i in chunk], order): chunk for chunk in chunks
        }
        for future in as_completed(futures):
            chunk = futures[future]
            try:
                folders = future.result()
            except BrokenProcessPool:
                missing += chunk
                continue
            for index, folder in zip(chunk, folders, strict=True):
                yield Done(index, read(Path(folder)), computed=True)
    yield from _one_at_a_time(jobs, missing, order)


def _one_at_a_time(jobs: Sequence[Job], indices: list[int], order: _Order) -> Iterator[Done]:
    """After a worker died: find the job that kills it, and let the others finish."""
    store = RunStore(order.outputs)
    for index in indices:
        job = jobs[index]
        found = None if order.fresh else store.done(job)
        if found is not None:
            yield Done(index, found, computed=True)
            continue
        try:
            with _pool(1) as pool:
                (folder,) = pool.submit(_chunk, [job], order).result()
            yield Done(index, read(Path(folder)), computed=True)
        except BrokenProcessPool as problem:
            error = {"type": "WorkerDied", "message": str(problem), "traceback": ""}
            took = {"started": time.time(), "seconds": 0.0, "cpu_seconds": 0.0}
            yield Done(index, store.write(job, {**order.facts, **took}, error=error), computed=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    # Fork would copy a process that may hold locks; a server forks clean ones, fast.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return ProcessPoolExecutor(max_workers=workers, mp_context=context)


def _chunk(jobs: list[Job], order: _Order) -> list[str]:
    store = RunStore(order.outputs)
    folders = []
    with one_thread():
        for job in jobs:
            record = perform(job, store, order.facts, fresh=order.fresh)
            if order.figures:
                artifacts.ensure(record)
            folders.append(str(record.folder))
    return folders
