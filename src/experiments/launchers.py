"""Launchers: where chunks of jobs are run; each yields chunk numbers with the runs' folders.

A worker writes its runs into the outputs folder itself, so results cross no network and a killed
sweep keeps what is done; workers on other machines must see that folder. Only the process that
issued the sweep writes to the tracking store.
"""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from experiments.errors import BadInput
from experiments.jobs import Job

Chunk = list[Job]


@dataclass(frozen=True)
class Order:
    """What every worker is told, whatever jobs it gets."""

    outputs: Path
    facts: dict[str, Any]
    fresh: bool = False
    figures: bool = False
    seconds: float | None = None
    memory_gb: float | None = None


class Launcher(Protocol):
    """Runs chunks; None instead of folders says that the worker died."""

    @property
    def workers(self) -> int: ...

    def run(
        self, chunks: Sequence[Chunk], order: Order
    ) -> Iterator[tuple[int, list[str] | None]]: ...


@dataclass(frozen=True)
class Processes:
    """Reused processes on this machine."""

    workers: int = 1

    def run(self, chunks: Sequence[Chunk], order: Order) -> Iterator[tuple[int, list[str] | None]]:
        from experiments.runner import run_chunk

        with self._pool() as pool:
            futures: dict[Future[list[str]], int] = {
                pool.submit(run_chunk, chunk, order): index for index, chunk in enumerate(chunks)
            }
            for future in as_completed(futures):
                try:
                    yield futures[future], future.result()
                except BrokenProcessPool:
                    yield futures[future], None

    def _pool(self) -> ProcessPoolExecutor:
        # Fork would copy a process that may hold locks; a server forks clean ones, fast.
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        return ProcessPoolExecutor(max_workers=self.workers, mp_context=context)


@dataclass(frozen=True)
class Dask:
    """A Dask cluster by its scheduler's address, whatever it runs on."""

    address: str
    workers: int = 4

    def run(self, chunks: Sequence[Chunk], order: Order) -> Iterator[tuple[int, list[str] | None]]:
        from experiments.runner import run_chunk

        try:
            from distributed import Client, KilledWorker
            from distributed import as_completed as completed
        except ImportError as error:
            raise BadInput("launch=dask needs: pip install 'bythebook[dask]'") from error
        try:
            client = Client(self.address, timeout=20)
        except OSError as error:
            raise BadInput(f"no Dask scheduler answers at {self.address}") from error
        with client:
            futures = {
                client.submit(run_chunk, chunk, order, pure=False, retries=0): index
                for index, chunk in enumerate(chunks)
            }
            for future in completed(list(futures)):
                problem = future.exception()
                if problem is not None and not isinstance(problem, KilledWorker):
                    raise problem
                yield futures[future], None if problem else future.result()


@dataclass(frozen=True)
class Slurm:
    """One Slurm job a chunk, through submitit; `cluster="local"` runs them on this machine."""

    cluster: str = "slurm"
    workers: int = 2
    minutes: int = 60
    memory_gb: float = 4.0
    options: tuple[tuple[str, Any], ...] = ()

    def run(self, chunks: Sequence[Chunk], order: Order) -> Iterator[tuple[int, list[str] | None]]:
        from experiments.runner import run_chunk

        try:
            import submitit
        except ImportError as error:
            raise BadInput("launch=slurm needs: pip install 'bythebook[slurm]'") from error
        executor = submitit.AutoExecutor(folder=order.outputs / "slurm", cluster=self.cluster)
        executor.update_parameters(
            timeout_min=self.minutes, mem_gb=self.memory_gb, name="bythebook", **dict(self.options)
        )
        if self.cluster == "slurm":
            executor.update_parameters(slurm_array_parallelism=self.workers)
        with executor.batch():
            submitted = [executor.submit(run_chunk, chunk, order) for chunk in chunks]
        waiting = dict(enumerate(submitted))
        while waiting:
            for index, job in list(waiting.items()):
                if job.done():
                    del waiting[index]
                    yield index, None if job.exception() is not None else job.result()
            time.sleep(0.2 if waiting else 0)


def make(launch: Any, jobs: int) -> Launcher:
    """The launcher that a configuration's `launch` and `jobs` ask for."""
    if launch.kind == "dask":
        if not launch.address:
            raise BadInput("launch=dask needs launch.address=<tcp://host:port of the scheduler>")
        return Dask(launch.address)
    if launch.kind == "slurm":
        options = tuple(dict(launch.options).items())
        return Slurm(launch.cluster, launch.workers, launch.minutes, launch.memory_gb, options)
    return Processes(min(jobs, 4 * (os.cpu_count() or 1)))
