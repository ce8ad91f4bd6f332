"""Launchers for other machines: a Dask cluster, or Slurm through submitit.

A worker writes its runs to the outputs folder, which must be on a shared file system. It must have
the same code and data as this machine, because they are part of the runs' keys.
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

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.safe_path import SAFE_PATH, safe_path
from bythebook.experiments.execution.signals import StopCheck, never_stop
from bythebook.experiments.execution.worker import Chunk, Results, RunOptions, run_chunk

# Versions that must be equal on the scheduler and every worker, and on every worker.
_PROTOCOL_PACKAGES = ("python", "dask", "distributed")
_NUMERIC_PACKAGES = ("bythebook", "numpy", "scipy", "numba")
_TIMEOUT_S = 20  # for the connection to a scheduler
_MAX_ARRAY = 1000  # jobs in one array: Slurm's default limit


def run_remote_chunk(jobs: Chunk, options: RunOptions, issuer: int | None = None) -> list[str]:
    """Run a chunk on another machine, if it has the same code and data as the issuer.

    A process on this machine gets the process id of its issuer, and ends when the issuer ends.
    """
    if issuer is not None:
        threading.Thread(target=_exit_with_process, args=(issuer,), daemon=True).start()
    if any(replace(job).key != job.key for job in jobs[:1]):
        raise InputError(
            f"the worker on {platform.node()} has different code or data than this machine"
        )
    return run_chunk(jobs, options)


def _exit_with_process(issuer: int) -> None:
    with suppress(ProcessLookupError):
        while True:
            os.kill(issuer, 0)
            time.sleep(1)
    os._exit(1)


@dataclass(frozen=True)
class DaskLauncher:
    """A Dask cluster, by the address of its scheduler."""

    address: str
    workers: int = 4

    def client(self) -> Any:
        """A client of the scheduler, after a check of the versions on the workers."""
        try:
            from distributed import Client
        except ImportError as error:
            raise InputError("launcher=dask needs: pip install 'bythebook[dask]'") from error
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about versions, which are checked below
                # Connection errors are raised as well.
                logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
                client = Client(self.address, timeout=_TIMEOUT_S)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {self.address}") from error
        for line in version_mismatches(client.get_versions(packages=_NUMERIC_PACKAGES)):
            client.close()
            raise InputError(f"the Dask cluster at {self.address} has different versions: {line}")
        return client

    def run(
        self, chunks: Sequence[Chunk], options: RunOptions, stopped: StopCheck = never_stop
    ) -> Results:
        with self.client() as client:
            from distributed import KilledWorker
            from distributed import as_completed as completed

            waiting, finished = deque(range(len(chunks))), completed()
            running: dict[Any, int] = {}

            def submit() -> None:
                """Submit chunks until each thread of the cluster has one running and one queued."""
                limit = 2 * max(1, sum(client.nthreads().values()))
                while waiting and len(running) < limit:
                    index = waiting.popleft()
                    future = client.submit(
                        run_remote_chunk, chunks[index], options, pure=False, retries=0
                    )
                    running[future] = index
                    finished.add(future)

            with self._scheduler_errors(client):
                submit()
            for future in finished:
                if stopped():
                    client.cancel(list(running))
                    return
                with self._scheduler_errors(client):
                    problem = future.exception()
                    folders = None if problem else future.result()
                if problem is not None and not isinstance(problem, KilledWorker):
                    raise problem
                yield running.pop(future), folders
                with self._scheduler_errors(client):
                    submit()

    @contextmanager
    def _scheduler_errors(self, client: Any) -> Iterator[None]:
        """Report a lost scheduler, whichever exception the client raises."""
        try:
            yield
        except Exception as error:
            if client.status == "running" and not isinstance(error, (OSError, CancelledError)):
                raise
            raise InputError(
                f"lost the connection to the Dask scheduler at {self.address}; completed runs are"
                " saved, run the same command to resume"
            ) from error


def version_mismatches(versions: Mapping[str, Any]) -> Iterable[str]:
    """One line for each package whose version on the cluster differs from this machine's."""
    own = versions["client"]["packages"]
    others = {"the scheduler": versions["scheduler"], **versions["workers"]}
    for name in (*_PROTOCOL_PACKAGES, *_NUMERIC_PACKAGES):
        for machine, content in others.items():
            if machine == "the scheduler" and name in _NUMERIC_PACKAGES:
                continue
            theirs, ours = content["packages"].get(name), own.get(name)
            if name == "python":
                theirs, ours = (".".join(str(v).split(".")[:2]) for v in (theirs, ours))
            if theirs != ours:
                yield f"{name} {theirs or 'is missing'} on {machine}, {ours} here"


@dataclass(frozen=True)
class SlurmLauncher:
    """One Slurm job for each chunk; submitit runs them on this machine if `cluster` is local."""

    cluster: str = "slurm"
    workers: int = 2
    minutes: int = 60
    memory_gb: float = 4.0
    options: tuple[tuple[str, Any], ...] = ()

    def executor(self, folder: Path) -> Any:
        """The submitit executor with its files in a folder; unknown options are refused."""
        try:
            import submitit
        except ImportError as error:
            raise InputError("launcher=slurm needs: pip install 'bythebook[slurm]'") from error
        try:
            executor = submitit.AutoExecutor(folder=folder, cluster=self.cluster)
            limits = {"timeout_min": self.minutes, "mem_gb": self.memory_gb, "name": "bythebook"}
            limits["slurm_array_parallelism"] = self.workers
            own = dict(self.options)
            exports = [f"export {name}={value}" for name, value in SAFE_PATH.items()]
            own["slurm_setup"] = [*exports, *own.get("slurm_setup", [])]
            executor.update_parameters(**limits, **own)
        except (NameError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"launcher=slurm could not be set up: {_error_line(error)}") from error
        return executor

    def run(
        self, chunks: Sequence[Chunk], options: RunOptions, stopped: StopCheck = never_stop
    ) -> Results:
        # A folder for each sweep: job ids are unique within one cluster only.
        folder = options.outputs / "slurm" / uuid.uuid4().hex
        executor = self.executor(folder)
        local = self.cluster == "local"
        issuer, limit = (os.getpid(), self.workers) if local else (None, _MAX_ARRAY)
        queue = SlurmQueue(folder)
        waiting, all_complete = deque(range(len(chunks))), True
        running: dict[int, Any] = {}
        try:
            while (waiting or running) and not stopped():
                if waiting and len(running) < (limit if local else 1):
                    size = min(limit - len(running), len(waiting))
                    batch = [waiting.popleft() for _ in range(size)]
                    running |= _submit(executor, {i: chunks[i] for i in batch}, options, issuer)
                for index, job in list(running.items()):
                    if job.done() if local else queue.is_finished(job):
                        del running[index]
                        folders = _run_folders(job)
                        all_complete &= folders is not None
                        yield index, folders
                time.sleep((0.2 if local else 1.0) if running else 0)
        finally:
            if running:
                _cancel(running.values(), local=local)
            elif all_complete:  # otherwise the logs show the cause
                shutil.rmtree(folder, ignore_errors=True)


class SlurmQueue:
    """State of submitted jobs: finished with a result file, or no longer in Slurm's queue.

    The queue is read with squeue, not from the accounting, which many clusters do not have. If the
    controller does not answer, all jobs count as queued.
    """

    def __init__(self, folder: Path, pause: float = 5.0, grace: float = 15.0) -> None:
        self.folder, self.pause, self.grace = folder, pause, grace
        self._queried = self._listed = -pause
        self._queued: set[str] | None = None
        self._results: set[str] = set()
        self._missing_since: dict[str, float] = {}  # jobs that are neither queued nor finished

    def is_finished(self, job: Any) -> bool:
        """Whether a job has a result, or has been missing for the grace period."""
        now = time.monotonic()
        if now - self._listed > 0.5:
            self._listed = now
            self._results = {path.name for path in self.folder.iterdir()}
        if job.paths.result_pickle.name in self._results:
            return True
        if now - self._queried > self.pause:
            self._queried = now
            self._queued = slurm_job_ids()
        if self._queued is None or job.job_id in self._queued:
            self._missing_since.pop(job.job_id, None)
            return False
        # A slow file system may show the result later.
        return now - self._missing_since.setdefault(job.job_id, now) > self.grace


def slurm_job_ids() -> set[str] | None:
    """The ids of the user's jobs that wait or run; None if Slurm does not answer."""
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--user={os.getuid()}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(done.stdout.split()) if done.returncode == 0 else None


def _submit(
    executor: Any, chunks: Mapping[int, Chunk], options: RunOptions, issuer: int | None
) -> dict[int, Any]:
    """Submit chunks as one array of jobs; a rejection is reported with Slurm's message."""
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    try:
        # The error has the output.
        with safe_path(), redirect_stderr(io.StringIO()), executor.batch():
            return {
                index: executor.submit(run_remote_chunk, chunk, options, issuer)
                for index, chunk in chunks.items()
            }
    except (FailedJobError, FailedSubmissionError) as error:
        raise InputError(f"Slurm rejected the sweep: {_error_line(error)}") from error


def _run_folders(job: Any) -> list[str] | None:
    """The folders of the runs of a job; None if it has no result."""
    if not job.paths.result_pickle.exists() or job.exception() is not None:
        return None
    folders: list[str] = job.result()
    return folders


def _cancel(jobs: Iterable[Any], *, local: bool) -> None:
    if local:
        for job in jobs:
            job.cancel()
        return
    ids = [job.job_id for job in jobs]
    for start in range(0, len(ids), 500):
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                ["scancel", *ids[start : start + 500]],
                capture_output=True,
                check=False,
                timeout=60,
            )


def _error_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
