"""Other machines: a Dask cluster, or Slurm through submitit.

A worker there writes its runs into the outputs folder, which it must see, and must have the code
and the data that the runs are named after.
"""

import io
import logging
import os
import platform
import shutil
import subprocess
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.contract.errors import BadInput
from experiments.running.interrupts import Stopped, never
from experiments.running.work import Chunk, Order, Results, run_chunk

_TALKING = ("python", "dask", "distributed")  # the same on the scheduler and on every worker
_COMPUTING = ("bythebook", "numpy", "scipy", "numba")  # the same on every worker
_ANSWER = 20  # seconds that a scheduler has
_ARRAY = 1000  # jobs: as many as Slurm takes in one array unless its administrator says otherwise


def run_elsewhere(jobs: Chunk, order: Order, issuer: int | None = None) -> list[str]:
    """A chunk on another machine, if that has the code and the data which the jobs are named after.

    On this machine a process is given its issuer's number, and ends with it.
    """
    if issuer is not None:
        threading.Thread(target=_end_with, args=(issuer,), daemon=True).start()
    if any(replace(job).key != job.key for job in jobs[:1]):
        raise BadInput(f"the worker on {platform.node()} has other code or data than this machine")
    return run_chunk(jobs, order)


def _end_with(issuer: int) -> None:
    with suppress(ProcessLookupError):
        while True:
            os.kill(issuer, 0)
            time.sleep(1)
    os._exit(1)


@dataclass(frozen=True)
class Dask:
    """A Dask cluster by its scheduler's address, whatever it runs on."""

    address: str
    workers: int = 4

    def client(self) -> Any:
        """A connection to the scheduler, which must be there, with workers like this machine."""
        try:
            from distributed import Client
        except ImportError as error:
            raise BadInput("launch=dask needs: pip install 'bythebook[dask]'") from error
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of versions: told below
                logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # told here
                client = Client(self.address, timeout=_ANSWER)
        except (OSError, ValueError) as error:
            raise BadInput(f"no Dask scheduler answers at {self.address}") from error
        for line in unlike(client.get_versions(packages=_COMPUTING)):
            client.close()
            raise BadInput(f"the Dask cluster at {self.address} is not like this machine: {line}")
        return client

    def run(self, chunks: Sequence[Chunk], order: Order, stopped: Stopped = never) -> Results:
        with self.client() as client:
            from distributed import KilledWorker
            from distributed import as_completed as completed

            waiting, finished = deque(range(len(chunks))), completed()
            running: dict[Any, int] = {}

            def submit() -> None:
                """As many as the cluster has threads now, and as many again at their doors."""
                most = 2 * max(1, sum(client.nthreads().values()))
                while waiting and len(running) < most:
                    index = waiting.popleft()
                    future = client.submit(
                        run_elsewhere, chunks[index], order, pure=False, retries=0
                    )
                    running[future] = index
                    finished.add(future)

            with self._reached(client):
                submit()
            for future in finished:
                if stopped():
                    client.cancel(list(running))
                    return
                with self._reached(client):
                    problem = future.exception()
                    folders = None if problem else future.result()
                if problem is not None and not isinstance(problem, KilledWorker):
                    raise problem
                yield running.pop(future), folders
                with self._reached(client):
                    submit()

    @contextmanager
    def _reached(self, client: Any) -> Iterator[None]:
        """A client that has lost its scheduler fails in one way or another."""
        try:
            yield
        except Exception as error:
            if client.status == "running" and not isinstance(error, (OSError, CancelledError)):
                raise
            raise BadInput(
                f"the Dask scheduler at {self.address} is gone; what is done is recorded,"
                " and the same command goes on with the rest"
            ) from error


def unlike(versions: Mapping[str, Any]) -> Iterable[str]:
    """What a cluster has in another version than this machine, a line for each."""
    mine = versions["client"]["packages"]
    others = {"the scheduler": versions["scheduler"], **versions["workers"]}
    for name in (*_TALKING, *_COMPUTING):
        for place, there in others.items():
            if place == "the scheduler" and name in _COMPUTING:
                continue
            theirs, ours = there["packages"].get(name), mine.get(name)
            if name == "python":
                theirs, ours = (".".join(str(v).split(".")[:2]) for v in (theirs, ours))
            if theirs != ours:
                yield f"{name} {theirs or 'is missing'} on {place}, {ours} here"


@dataclass(frozen=True)
class Slurm:
    """One Slurm job a chunk, through submitit; `cluster="local"` runs them on this machine."""

    cluster: str = "slurm"
    workers: int = 2
    minutes: int = 60
    memory_gb: float = 4.0
    options: tuple[tuple[str, Any], ...] = ()

    def executor(self, folder: Path) -> Any:
        """What submits, its files in this folder; what Slurm does not know is refused."""
        try:
            import submitit
        except ImportError as error:
            raise BadInput("launch=slurm needs: pip install 'bythebook[slurm]'") from error
        try:
            made = submitit.AutoExecutor(folder=folder, cluster=self.cluster)
            stated = {"timeout_min": self.minutes, "mem_gb": self.memory_gb, "name": "bythebook"}
            stated["slurm_array_parallelism"] = self.workers
            made.update_parameters(**stated, **dict(self.options))
        except (NameError, RuntimeError, TypeError, ValueError) as error:
            raise BadInput(f"launch=slurm cannot be had: {_line(error)}") from error
        return made

    def run(self, chunks: Sequence[Chunk], order: Order, stopped: Stopped = never) -> Results:
        # A folder for each time: the numbers of jobs begin again with another cluster.
        folder = order.outputs / "slurm" / uuid.uuid4().hex
        executor = self.executor(folder)
        local = self.cluster == "local"
        issuer, most = (os.getpid(), self.workers) if local else (None, _ARRAY)
        queue = Queue(folder)
        waiting, whole = deque(range(len(chunks))), True
        running: dict[int, Any] = {}
        try:
            while (waiting or running) and not stopped():
                if waiting and len(running) < (most if local else 1):
                    lot = [waiting.popleft() for _ in range(min(most - len(running), len(waiting)))]
                    running |= _submitted(executor, {i: chunks[i] for i in lot}, order, issuer)
                for index, job in list(running.items()):
                    if job.done() if local else queue.is_over(job):
                        del running[index]
                        folders = _folders(job)
                        whole &= folders is not None
                        yield index, folders
                time.sleep((0.2 if local else 1.0) if running else 0)
        finally:
            if running:
                _cancel(running.values(), local=local)
            elif whole:  # otherwise its logs tell what happened
                shutil.rmtree(folder, ignore_errors=True)


class Queue:
    """Which jobs are over: those with a result, and those that Slurm no longer has.

    Slurm itself is asked (squeue), not its accounting, which many clusters do without; a controller
    that does not answer has all of them still.
    """

    def __init__(self, folder: Path, pause: float = 5.0, grace: float = 15.0) -> None:
        self.folder, self.pause, self.grace = folder, pause, grace
        self._asked = self._listed = -pause
        self._there: set[str] | None = None
        self._results: set[str] = set()
        self._left: dict[str, float] = {}  # jobs without a result, and since when Slurm lacks them

    def is_over(self, job: Any) -> bool:
        now = time.monotonic()
        if now - self._listed > 0.5:
            self._listed = now
            self._results = {path.name for path in self.folder.iterdir()}
        if job.paths.result_pickle.name in self._results:
            return True
        if now - self._asked > self.pause:
            self._asked = now
            self._there = in_queue()
        if self._there is None or job.job_id in self._there:
            self._left.pop(job.job_id, None)
            return False
        return now - self._left.setdefault(job.job_id, now) > self.grace  # a slow file system


def in_queue() -> set[str] | None:
    """The numbers of this account's jobs that wait or run; None if Slurm does not answer."""
    ask = ["squeue", "--noheader", "--array", "--format=%i", f"--user={os.getuid()}"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(done.stdout.split()) if done.returncode == 0 else None


def _submitted(
    executor: Any, chunks: Mapping[int, Chunk], order: Order, issuer: int | None
) -> dict[int, Any]:
    """One array of jobs, or one by one on this machine; a refusal of Slurm's in its own words."""
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    try:
        with redirect_stderr(io.StringIO()), executor.batch():  # Slurm's words are in the error too
            return {
                index: executor.submit(run_elsewhere, chunk, order, issuer)
                for index, chunk in chunks.items()
            }
    except (FailedJobError, FailedSubmissionError) as error:
        raise BadInput(f"Slurm refuses the sweep: {_line(error)}") from error


def _folders(job: Any) -> list[str] | None:
    if not job.paths.result_pickle.exists() or job.exception() is not None:
        return None
    found: list[str] = job.result()
    return found


def _cancel(jobs: Iterable[Any], *, local: bool) -> None:
    if local:
        for job in jobs:
            job.cancel()
        return
    numbers = [job.job_id for job in jobs]
    for start in range(0, len(numbers), 500):
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                ["scancel", *numbers[start : start + 500]],
                capture_output=True,
                check=False,
                timeout=60,
            )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
