"""Launchers: where chunks of jobs are run; each yields chunk numbers with the runs' folders.

A worker writes its runs into the outputs folder itself, so results cross no network and a killed
sweep keeps what is done; workers on other machines must see that folder. Only the process that
issued the sweep writes to the tracking store.
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

from experiments.contract.errors import BadInput
from experiments.running.clusters import Dask, Slurm
from experiments.running.interrupts import Stopped, never
from experiments.running.pools import process_pool
from experiments.running.work import STOPPING, Chunk, Order, Results, run_chunk


class Launcher(Protocol):
    """Runs chunks; None instead of folders says that the worker died.

    Asked to stop, it finishes what is running: the last chunks may come back short, or not at all.
    """

    @property
    def workers(self) -> int: ...

    def run(self, chunks: Sequence[Chunk], order: Order, stopped: Stopped = never) -> Results: ...


@dataclass(frozen=True)
class Processes:
    """Reused processes on this machine, each a pool of its own: one that dies takes no other along.

    A chunk waits at each worker's door, so that no worker waits for the process that logs.
    """

    workers: int = 1
    ahead: int = 1

    def run(self, chunks: Sequence[Chunk], order: Order, stopped: Stopped = never) -> Results:
        waiting = deque(range(len(chunks)))
        pools = [process_pool(1, _begin) for _ in range(min(self.workers, len(chunks)))]
        running: dict[Future[list[str]], tuple[int, int]] = {}  # chunk and pool
        try:
            while waiting or running:
                if stopped():
                    waiting.clear()
                    _signal(pools, signal.SIGINT)
                for number in range(len(pools)) if waiting else ():
                    load = sum(place == number for _, place in running.values())
                    while waiting and load <= self.ahead:
                        try:
                            future = pools[number].submit(run_chunk, chunks[waiting[0]], order)
                        except BrokenProcessPool:  # it broke while nobody looked
                            if load == 0:
                                pools[number] = process_pool(1, _begin)
                            break  # what it was at comes back as broken, and makes room for a new
                        running[future] = waiting.popleft(), number
                        load += 1
                done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    index, number = running.pop(future)
                    try:
                        yield index, future.result()
                    except BrokenProcessPool:
                        yield index, None
                        if not any(place == number for _, place in running.values()):
                            pools[number] = process_pool(1, _begin)
        except BaseException as error:
            # A second Ctrl-C stops; after anything else, what is running may finish.
            _signal(pools, signal.SIGINT if isinstance(error, Exception) else signal.SIGKILL)
            raise
        finally:
            for pool in pools:
                pool.shutdown()


def _signal(pools: Iterable[ProcessPoolExecutor], number: signal.Signals) -> None:
    for pool in pools:
        for pid in list(pool._processes or ()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def _begin() -> None:
    """What a worker does first: asked to end, it does so after the run it is at."""
    signal.signal(signal.SIGINT, lambda *_: STOPPING.set())


def make(launch: Any, jobs: int) -> Launcher:
    """The launcher that a configuration's `launch` and `jobs` ask for."""
    if launch.kind == "dask":
        if not re.match(r"(tcp|tls|ucx|wss?)://\S", launch.address or ""):
            raise BadInput("launch=dask needs launch.address=<tcp://host:port of the scheduler>")
        dask = Dask(launch.address)
        dask.client().close()  # before anything is written
        return dask
    if launch.kind == "slurm":
        options = tuple(dict(launch.options).items())
        for name, _ in options:
            if not re.match(r"(slurm|local)_\w|nodes$|(cpus|gpus|tasks)_per_\w+$", name):
                raise BadInput(f"launch.options.{name}; allowed: slurm_<option of sbatch>")
        if launch.cluster == "slurm" and shutil.which("srun") is None:
            raise BadInput(
                "launch=slurm: there is no Slurm here (no srun on the path);"
                " launch.cluster=local runs its jobs on this machine"
            )
        slurm = Slurm(launch.cluster, launch.workers, launch.minutes, launch.memory_gb, options)
        with tempfile.TemporaryDirectory() as folder:
            slurm.executor(Path(folder))
        return slurm
    return Processes(min(jobs, 4 * (os.cpu_count() or 1)))
