"""Computation and recording of jobs in one process."""

import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.random import Generator
from threadpoolctl import threadpool_limits

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.equations import evaluate, find_equation
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.execution.resource_limits import resource_limits
from bythebook.experiments.store import artifacts, fsync
from bythebook.experiments.store.pending_runs import PendingRun, make_pending
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_store import RunStore
from bythebook.models import datasets
from bythebook.models.compiled import threads
from bythebook.models.convergence import NotConverged, summarise

Chunk = list[Job]
Results = Iterator[tuple[int, list[str] | None]]  # number of a chunk, and the folders of its runs
FLUSH_INTERVAL_S = 0.25  # seconds after which a worker records its runs
STOP_REQUESTED = threading.Event()  # if set, a worker stops after its current run


@dataclass(frozen=True)
class RunOptions:
    """Options of a worker, the same for all of its jobs."""

    outputs: Path
    environment: dict[str, Any]  # provenance of the issuing process
    force: bool = False
    tables: bool = False
    timeout: float | None = None
    memory_gb: float | None = None
    metric: str | None = None  # an expression: the metric of a sweep


class Computed(NamedTuple):
    """The outcome of a study, whether it used random numbers, and what did not converge."""

    outcome: Outcome
    is_stochastic: bool
    not_converged: list[str]  # sentences about fits that stopped at their limit


def compute(job: Job) -> Computed:
    """Run the study with the job's generator; equal jobs give bitwise identical outcomes."""
    rng = make_rng(job.seed)
    before = _rng_state(rng)
    with datasets.originals_in(job.data_dir, job.seed), _unconverged_fits() as unconverged:
        outcome = job.study.compute(rng)
        drawn = any(datasets.is_drawn(name) for name in job.study.dataset_names())
    is_stochastic = drawn or _rng_state(rng) != before
    return Computed(outcome, is_stochastic, summarise(unconverged))


@contextmanager
def _unconverged_fits() -> Iterator[list[NotConverged]]:
    """The warnings of fits that stopped at their limit; other warnings are shown as usual."""
    unconverged: list[NotConverged] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", NotConverged)
        show = warnings.showwarning

        def collect(message: Warning | str, *details: Any, **options: Any) -> None:
            if isinstance(message, NotConverged):
                unconverged.append(message)
            else:
                show(message, *details, **options)

        warnings.showwarning = collect
        yield unconverged


def evaluate_equations(job: Job) -> dict[str, dict[str, Any]]:
    """The gaps of the equations that the job's claims name, as they are recorded."""
    return {name: evaluate(find_equation(name)).content for name in job.equations}


def _rng_state(rng: Generator) -> str:
    """The state of a generator, which changes if a study draws from it."""
    seeds: Any = rng.bit_generator.seed_seq
    return f"{rng.bit_generator.state} {seeds.n_children_spawned}"


def run_and_record(job: Job, options: RunOptions) -> Record:
    """Run one job and record it in a folder; as failed if it raises or exceeds a limit."""
    result, store = _run(job, options), RunStore(options.outputs)
    try:
        record = store.save(
            job,
            result.provenance,
            outcome=result.outcome,
            error=result.error,
            equations=result.equations,
            adopt=not options.force,
        )
    except (TypeError, ValueError) as error:  # the outcome cannot be stored
        record = store.save(job, result.provenance, error=_describe_error(error))
    if options.tables:
        artifacts.ensure_tables(record)
    return record


class _Result(NamedTuple):
    """A run before it is recorded."""

    provenance: dict[str, Any]
    outcome: Outcome | None
    error: dict[str, str] | None
    equations: dict[str, dict[str, Any]] | None = None  # gaps by name


def _run(job: Job, options: RunOptions) -> _Result:
    started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
    computed, gaps, error = None, None, None
    try:
        with resource_limits(options.timeout, options.memory_gb):
            gaps = evaluate_equations(job)
            computed = compute(job)
    except (InputError, datasets.DataError):
        raise
    except Exception as problem:
        error = _describe_error(problem)
    times = {
        "started": started,
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
    }
    if computed is None:
        return _Result({**options.environment, **times}, None, error)
    provenance = {**options.environment, **times, "chance": computed.is_stochastic}
    if computed.not_converged:
        provenance["not_converged"] = computed.not_converged
    return _Result(provenance, computed.outcome, None, gaps)


class RunWriter:
    """Runs jobs and records them: runs of sweeps in batches, results immediately in folders."""

    def __init__(self, options: RunOptions) -> None:
        self.options, self.store = options, RunStore(options.outputs)
        self._folders: list[Path | None] = []
        self._pending: list[PendingRun] = []
        self._needs_flush = False  # whether folders may not be on the disk yet

    def run(self, job: Job) -> None:
        """Run a job."""
        if job.canonical or self.options.tables:
            self._folders.append(run_and_record(job, self.options).folder)
            self._needs_flush = True
            return
        result, folder = _run(job, self.options), self.store.run_dir(job)
        provenance = result.provenance
        try:
            run = make_pending(folder, job, provenance, outcome=result.outcome, error=result.error)
        except (TypeError, ValueError) as error:  # the outcome cannot be stored
            run = make_pending(folder, job, provenance, error=_describe_error(error))
        self._folders.append(None)
        self._pending.append(run)

    def saved_folders(self) -> list[Path]:
        """Record the runs since the last call, flush them to the disk, and return their folders."""
        saved = self.store.save_many(
            self._pending, adopt=not self.options.force, metric=self.options.metric
        )
        if self._needs_flush:
            fsync.fsync_filesystem(self.options.outputs)
        packed = iter(saved)
        folders = [folder or next(packed) for folder in self._folders]
        self._folders, self._pending, self._needs_flush = [], [], False
        return folders


def _describe_error(error: Exception) -> dict[str, str]:
    return {
        "type": type(error).__name__,
        "message": str(error),
        "traceback": traceback.format_exc(),
    }


def run_chunk(jobs: list[Job], options: RunOptions) -> list[str]:
    """Run and record the jobs of a chunk, and return the folders of the runs."""
    writer, folders, saved = RunWriter(options), list[Path](), time.monotonic()
    with single_threaded():
        for job in jobs:
            if STOP_REQUESTED.is_set():
                break
            writer.run(job)
            if time.monotonic() - saved > FLUSH_INTERVAL_S:  # a crash loses the runs since then
                folders += writer.saved_folders()
                saved = time.monotonic()
    return [str(folder) for folder in [*folders, *writer.saved_folders()]]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and compiled code to one thread, so that the order of summation is fixed."""
    with threadpool_limits(limits=1), threads(1):
        yield
