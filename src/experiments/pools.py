"""Pools of processes on this machine."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor


def process_pool(
    workers: int | None = None, initializer: Callable[[], None] | None = None
) -> ProcessPoolExecutor:
    """As many processes as asked for, or one a core; each begins with the initializer.

    Fork would copy a process that may hold locks; a server forks clean ones, fast.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return ProcessPoolExecutor(workers or os.cpu_count() or 1, context, initializer)
