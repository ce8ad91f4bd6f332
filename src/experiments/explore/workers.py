"""Worker processes: one run at a time each, ended and replaced when a run must stop.

Each is a pool of one process (`running.pools`), so that ending it disturbs no other. A tab has
one run under way: a newer one supersedes it.
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

from experiments.explore import trials
from experiments.running.pools import process_pool

T = TypeVar("T")
PRELOADED = ["experiments.explore.trials"]  # a process that starts has it at once


class Stopped(Exception):
    """A run was ended before it was done: cancelled, superseded, killed, or the server stops."""


class Workers:
    """As many processes as may run at once; they start when they are needed."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or max(4, min(os.cpu_count() or 4, 8))
        self._free = asyncio.Semaphore(self.count)
        self._behind = asyncio.Semaphore(1)  # for what nobody waits for
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
        behind: bool = False,
    ) -> T:
        """The call's value, computed in a worker; the tab's older run, if any, is superseded.

        What may run behind takes one process of its own, and none that somebody waits for.
        """
        self.cancel(tab, "superseded by a newer run")
        work = asyncio.create_task(self._work(call, arguments, seconds, behind))
        self._tabs[tab] = work
        try:
            await asyncio.wait({work})
            return work.result()
        except asyncio.CancelledError as error:
            if work.cancelled():
                raise Stopped(str(error) or "cancelled") from None
            work.cancel()  # it is the caller who is cancelled
            with suppress(asyncio.CancelledError):
                await work
            raise
        finally:
            if self._tabs.get(tab) is work:
                del self._tabs[tab]

    def cancel(self, tab: str, why: str = "cancelled") -> bool:
        """Stop what a tab has under way."""
        work = self._tabs.get(tab)
        return work is not None and work.cancel(why)

    async def _work(
        self,
        call: Callable[..., T],
        arguments: tuple[object, ...],
        seconds: float | None,
        behind: bool,
    ) -> T:
        async with self._behind if behind else self._free:
            if self._closed:
                raise Stopped("the server stops")
            pool = self._idle.pop() if self._idle else _started()
            self._busy.add(pool)
            whole = False
            try:
                future = asyncio.wrap_future(pool.submit(call, *arguments))
                value = await asyncio.wait_for(future, seconds)
                whole = True
                return value
            except TimeoutError:
                raise Stopped(f"stopped after {seconds:g} s") from None
            except BrokenProcessPool:
                problem = "the process that ran it was killed (out of memory, or by hand)"
                raise Stopped(problem) from None
            finally:
                self._busy.discard(pool)
                if whole and not self._closed:
                    self._idle.append(pool)
                else:
                    _end(pool)

    def close(self) -> None:
        """End every process; what is under way stops."""
        self._closed = True
        for tab in list(self._tabs):
            self.cancel(tab, "the server stops")
        for pool in [*self._idle, *self._busy]:
            _end(pool)
        self._idle.clear()


def _started() -> ProcessPoolExecutor:
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    return process_pool(1, trials.begin)


def _end(pool: ProcessPoolExecutor) -> None:
    for pid in list(pool._processes or ()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    pool.shutdown(wait=False, cancel_futures=True)
