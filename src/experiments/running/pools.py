"""Pools of processes on this machine."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


def process_pool(
    workers: int | None = None, initializer: Callable[[], None] | None = None
) -> ProcessPoolExecutor:
    """As many processes as asked for, or one a core; each begins with the initializer.

    Fork would copy a process that may hold locks; a server forks clean ones, fast.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return ProcessPoolExecutor(workers or os.cpu_count() or 1, context, initializer)


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
