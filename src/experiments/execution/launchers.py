"""Launchers, which run chunks of jobs and yield chunk numbers with the folders of their runs.

A worker writes its runs to the outputs folder itself: results are not sent over a network, and
completed runs of a killed sweep are saved. Only the issuing process writes to the tracking store.
"""

import os
import re
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.clusters import DaskLauncher, SlurmLauncher
from bythebook.experiments.execution.process_pools import process_pool
from bythebook.experiments.execution.signals import StopCheck, never_stop
from bythebook.experiments.execution.worker import (
    STOP_REQUESTED,
    Chunk,
    Results,
    RunOptions,
    run_chunk,
)


class Launcher(Protocol):
    """A way to run chunks; it yields None instead of folders if the worker died.

    If `stopped` returns True, running jobs are finished: the last chunks may be incomplete or
    missing.
    """

    @property
    def workers(self) -> int:
        """The number of chunks that run at the same time."""

    def run(
        self, chunks: Sequence[Chunk], options: RunOptions, stopped: StopCheck = never_stop
    ) -> Results:
        """Run chunks, and yield their numbers with the folders of their runs."""


@dataclass(frozen=True)
class LocalLauncher:
    """Processes on this machine, each in a pool of its own, so that one crash affects one pool.

    Each worker has `prefetch` chunks waiting, so that it does not wait for the issuing process.
    """

    workers: int = 1
    prefetch: int = 1

    def run(
        self, chunks: Sequence[Chunk], options: RunOptions, stopped: StopCheck = never_stop
    ) -> Results:
        waiting = deque(range(len(chunks)))
        pools = [process_pool(1, _init_worker) for _ in range(min(self.workers, len(chunks)))]
        running: dict[Future[list[str]], tuple[int, int]] = {}  # chunk and pool
        try:
            while waiting or running:
                if stopped():
                    waiting.clear()
                    _signal_workers(pools, signal.SIGINT)
                for number in range(len(pools)) if waiting else ():
                    load = sum(pool == number for _, pool in running.values())
                    while waiting and load <= self.prefetch:
                        try:
                            future = pools[number].submit(run_chunk, chunks[waiting[0]], options)
                        except BrokenProcessPool:  # since the last check
                            if load == 0:
                                pools[number] = process_pool(1, _init_worker)
                            break  # its chunks fail, and then the pool is replaced
                        running[future] = waiting.popleft(), number
                        load += 1
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    index, number = running.pop(future)
                    try:
                        yield index, future.result()
                    except BrokenProcessPool:
                        yield index, None
                        if not any(pool == number for _, pool in running.values()):
                            pools[number] = process_pool(1, _init_worker)
        except BaseException as error:
            # A second Ctrl-C kills the workers; after other errors they finish their runs.
            _signal_workers(
                pools, signal.SIGINT if isinstance(error, Exception) else signal.SIGKILL
            )
            raise
        finally:
            for pool in pools:
                pool.shutdown()


def _signal_workers(pools: Iterable[ProcessPoolExecutor], signum: signal.Signals) -> None:
    for pool in pools:
        for pid in list(pool._processes or ()):
            with suppress(ProcessLookupError):
                os.kill(pid, signum)


def _init_worker() -> None:
    """Let a worker finish its current run after SIGINT."""
    signal.signal(signal.SIGINT, lambda *_: STOP_REQUESTED.set())


def make_launcher(launcher: Any, jobs: int) -> Launcher:
    """The launcher for the settings `launcher` and `jobs`."""
    if launcher.kind == "dask":
        if not re.match(r"(tcp|tls|ucx|wss?)://\S", launcher.address or ""):
            raise InputError(
                "launcher=dask requires launcher.address=<tcp://host:port of the scheduler>"
            )
        dask = DaskLauncher(launcher.address)
        dask.client().close()  # fails before any file is written
        return dask
    if launcher.kind == "slurm":
        options = tuple(dict(launcher.options).items())
        for name, _ in options:
            if not re.match(r"(slurm|local)_\w|nodes$|(cpus|gpus|tasks)_per_\w+$", name):
                raise InputError(
                    f"launcher.options.{name} is not allowed; allowed: slurm_<option of sbatch>"
                )
        if launcher.cluster == "slurm" and shutil.which("srun") is None:
            raise InputError(
                "launcher=slurm: there is no Slurm here (no srun on the path);"
                " use launcher.cluster=local to run the jobs on this machine"
            )
        slurm = SlurmLauncher(
            launcher.cluster, launcher.workers, launcher.minutes, launcher.memory_gb, options
        )
        with tempfile.TemporaryDirectory() as folder:
            slurm.executor(Path(folder))
        return slurm
    return LocalLauncher(min(jobs, 4 * (os.cpu_count() or 1)))
