"""Pools of processes on this machine."""

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")


def process_pool(
    workers: int | None = None, initializer: Callable[[], None] | None = None
) -> ProcessPoolExecutor:
    """As many processes as asked for, or one a core; each begins with the initializer.

    Fork would copy a process that may hold locks; a server forks clean ones, fast. None of them
    outlives the process that asked for it, however that ends.
    """
    _remember_semaphores()
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return _Pool(workers or os.cpu_count() or 1, context, _begin, (initializer,))


class _Tracker(resource_tracker.ResourceTracker):
    """Python's keeper of semaphores, a process: one that was killed has an informed successor.

    Without, the successor prints a traceback for each semaphore that it has never heard of.
    """

    _lock_of_names = threading.RLock()  # a search for garbage may come back here
    _names: ClassVar[set[tuple[str, str]]] = set()
    _informed: int | None = None

    def _send(self, command: str, name: str, kind: str) -> None:
        with self._lock_of_names:
            self.ensure_running()
            keeper: int | None = self._pid  # type: ignore[attr-defined]
            if keeper != self._informed:
                self._informed = keeper
                for known in tuple(self._names):
                    super()._send("REGISTER", *known)  # type: ignore[misc]
            super()._send(command, name, kind)  # type: ignore[misc]
            change = self._names.add if command == "REGISTER" else self._names.discard
            change((name, kind))


def _remember_semaphores() -> None:
    keeper = resource_tracker._resource_tracker
    if type(keeper) is resource_tracker.ResourceTracker:
        warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
        keeper.__class__ = _Tracker


def _begin(initializer: Callable[[], None] | None) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer()


def _end_with_parent() -> None:
    """The parent holds the other end of a pipe, which closes even when it is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Pool(ProcessPoolExecutor):
    """Processes that never run the main program: a script needs no guard against that."""

    def submit(self, *call: Any, **named: Any) -> "Future[Any]":
        with _no_main():
            return super().submit(*call, **named)


@contextmanager
def _no_main() -> Iterator[None]:
    """A process that starts is told of no main module: all that is sent to it comes from ours."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def attempted(pool: ProcessPoolExecutor, call: Callable[..., T], *arguments: Any) -> "Future[T]":
    """What a pool makes of a call: one that has broken meanwhile fails in the future, not here."""
    try:
        return pool.submit(call, *arguments)
    except BrokenProcessPool as broken:
        future: Future[T] = Future()
        future.set_exception(broken)
        return future


@contextmanager
def drawing_pool() -> Iterator[ProcessPoolExecutor]:
    """A process a core for work that Ctrl-C may leave undone: what is begun is finished."""
    pool = process_pool(initializer=_leave_signals_to_the_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_signals_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
