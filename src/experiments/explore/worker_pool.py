"""Worker processes that compute one run at a time and are replaced when a run must stop.

Each worker is a pool of one process, made by `execution.process_pools`, so that ending it does not
disturb the others. A browser tab has at most one run: a newer run of the tab supersedes the older.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TypeVar

from bythebook.experiments.execution.process_pools import process_pool
from bythebook.experiments.explore import runs

T = TypeVar("T")
PRELOADED = ["bythebook.experiments.explore.runs"]  # imported before a worker is forked


class RunCancelled(Exception):
    """A run ended early: cancelled, superseded, killed, or stopped with the server."""


class WorkerPool:
    """Up to `count` worker processes, started on demand, and one for background runs."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or max(4, min(os.cpu_count() or 4, 8))
        self._free = asyncio.Semaphore(self.count)
        self._background = asyncio.Semaphore(1)  # for runs that the user does not wait for
        self._idle: list[ProcessPoolExecutor] = []
        self._busy: set[ProcessPoolExecutor] = set()
        self._tabs: dict[str, asyncio.Task[object]] = {}
        self._closed = False

    async def run(
        self,
        tab: str,
        call: Callable[..., T],
        *arguments: object,
        seconds: float | None = None,
        background: bool = False,
    ) -> T:
        """The value of a call, computed in a worker; supersedes an older run of the tab.

        A run in the background has its own process and occupies none of the others.
        """
        self.cancel(tab, "superseded by a newer run")
        work = asyncio.create_task(self._work(call, arguments, seconds, background))
        self._tabs[tab] = work
        try:
            await asyncio.wait({work})
            return work.result()
        except asyncio.CancelledError as error:
            if work.cancelled():
                raise RunCancelled(str(error) or "cancelled") from None
            work.cancel()  # the caller was cancelled, not the run
            with suppress(asyncio.CancelledError):
                await work
            raise
        finally:
            if self._tabs.get(tab) is work:
                del self._tabs[tab]

    def cancel(self, tab: str, why: str = "cancelled") -> bool:
        """Stop the run of a tab; False if it has none."""
        work = self._tabs.get(tab)
        return work is not None and work.cancel(why)

    async def _work(
        self,
        call: Callable[..., T],
        arguments: tuple[object, ...],
        seconds: float | None,
        background: bool,
    ) -> T:
        async with self._background if background else self._free:
            if self._closed:
                raise RunCancelled("server is shutting down")
            pool = self._idle.pop() if self._idle else _start_pool()
            self._busy.add(pool)
            reusable = False
            try:
                future = asyncio.wrap_future(pool.submit(call, *arguments))
                value = await asyncio.wait_for(future, seconds)
                reusable = True
                return value
            except TimeoutError:
                raise RunCancelled(f"stopped after {seconds:g} s") from None
            except BrokenProcessPool:
                problem = "the worker process was killed (out of memory, or by a user)"
                raise RunCancelled(problem) from None
            finally:
                self._busy.discard(pool)
                if reusable and not self._closed:
                    self._idle.append(pool)
                else:
                    _terminate(pool)

    def close(self) -> None:
        """End every process and cancel all runs."""
        self._closed = True
        for tab in list(self._tabs):
            self.cancel(tab, "server is shutting down")
        for pool in [*self._idle, *self._busy]:
            _terminate(pool)
        self._idle.clear()


def _start_pool() -> ProcessPoolExecutor:
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    return process_pool(1, runs.init_worker)


def _terminate(pool: ProcessPoolExecutor) -> None:
    for pid in list(pool._processes or ()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    pool.shutdown(wait=False, cancel_futures=True)
