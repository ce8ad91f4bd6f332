"""Pools of worker processes on this machine."""

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

from bythebook.experiments.core.safe_path import safe_path

T = TypeVar("T")


def process_pool(
    workers: int | None = None, initializer: Callable[[], None] | None = None
) -> ProcessPoolExecutor:
    """A pool of `workers` processes, by default one per core; each first calls the initializer.

    Forking this process would copy locks that other threads hold, so Python's fork server forks
    clean ones. The processes end with this one, however it ends.
    """
    _install_resilient_tracker()
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    with safe_path():  # the queues of a pool start the resource tracker
        return _Pool(workers or os.cpu_count() or 1, context, _init_worker, (initializer,))


class _ResilientResourceTracker(resource_tracker.ResourceTracker):
    """A resource tracker that registers known semaphores again after its process was killed.

    Python's own prints a traceback for each semaphore that the new process does not know.
    """

    _lock_of_names = threading.RLock()  # the garbage collector may call `_send` again
    _names: ClassVar[set[tuple[str, str]]] = set()
    _registered_with: int | None = None

    def ensure_running(self) -> None:
        with safe_path():
            super().ensure_running()

    def _send(self, command: str, name: str, kind: str) -> None:
        with self._lock_of_names:
            self.ensure_running()
            tracker: int | None = self._pid  # type: ignore[attr-defined]
            if tracker != self._registered_with:
                self._registered_with = tracker
                for known in tuple(self._names):
                    super()._send("REGISTER", *known)  # type: ignore[misc]
            super()._send(command, name, kind)  # type: ignore[misc]
            change = self._names.add if command == "REGISTER" else self._names.discard
            change((name, kind))


def _install_resilient_tracker() -> None:
    tracker = resource_tracker._resource_tracker
    if type(tracker) is resource_tracker.ResourceTracker:
        warnings.filterwarnings("ignore", message="resource_tracker: process died unexpectedly")
        tracker.__class__ = _ResilientResourceTracker


def _init_worker(initializer: Callable[[], None] | None) -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    if initializer is not None:
        initializer()


def _exit_with_parent() -> None:
    """End with the parent: it holds the other end of a pipe, which closes even if it is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class _Pool(ProcessPoolExecutor):
    """Processes that do not run the user's script again, so it needs no `__main__` guard."""

    def submit(self, *call: Any, **named: Any) -> "Future[Any]":
        with safe_path(), _without_main_module():
            return super().submit(*call, **named)


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Processes that start meanwhile are given no main module; all calls are of this package."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def submit_safely(
    pool: ProcessPoolExecutor, call: Callable[..., T], *arguments: Any
) -> "Future[T]":
    """Submit a call; a pool that has broken since reports that in the future, not here."""
    try:
        return pool.submit(call, *arguments)
    except BrokenProcessPool as broken:
        future: Future[T] = Future()
        future.set_exception(broken)
        return future


@contextmanager
def figure_pool() -> Iterator[ProcessPoolExecutor]:
    """A pool of one process per core that finishes its current figures on Ctrl-C."""
    pool = process_pool(initializer=_ignore_sigint)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_sigint() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
