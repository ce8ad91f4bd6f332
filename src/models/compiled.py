"""Compilation of loops with numba at their first call, and their distribution over threads.

numba costs half a second to import and a kernel seconds to compile, once per machine (its cache is
on disk): a process that runs no recursion pays for neither. Only plain functions are compiled.
numba's generalised ufuncs are not used: two processes that compile one at the same moment corrupt
the cache for all later processes. If several processes need the kernels of a file at the same
moment, one compiles, and the others wait and load.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")

_limit: int | None = None


class compiled:  # a decorator
    """The same function, compiled when it is first called; other threads run meanwhile.

    Compiled functions of one module may call each other. `plain` is the function as written.
    """

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain
        self.ready = False
        update_wrapper(self, plain)

    @cached_property
    def kernel(self) -> Callable[..., Any]:
        """The compiled function."""
        import numba

        made: Callable[..., Any] = numba.njit(cache=True, nogil=True, error_model="numpy")(
            self.plain
        )
        return made

    @property
    def _numba_type_(self) -> Any:  # numba reads it where one kernel calls another
        import numba

        return numba.typeof(self.kernel)  # type: ignore[no-untyped-call]

    def __call__(self, *arguments: Any) -> Any:
        if not self.ready:
            self._compile_or_load(arguments)
        return self.kernel(*arguments)

    def _compile_or_load(self, arguments: tuple[Any, ...]) -> None:
        """Compile or load the kernel for arguments of these types; the caller runs it."""
        import numba

        kernel: Any = self.kernel
        with _alone(Path(kernel.stats.cache_path) / f"{self.plain.__module__}.lock"):
            types = tuple(numba.typeof(value) for value in arguments)  # type: ignore[no-untyped-call]
            kernel.compile(types)
        self.ready = True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Exclude other processes, if the system has file locks: the lock only saves work."""
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            import fcntl

            path.parent.mkdir(parents=True, exist_ok=True)
            lock = held.enter_context(path.open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)  # the system frees it when its holder ends
        yield


@contextmanager
def threads(limit: int) -> Iterator[None]:
    """Limit the number of threads: one, where other processes use the other cores."""
    global _limit
    before, _limit = _limit, limit
    try:
        yield
    finally:
        _limit = before


def in_blocks(work: Callable[[slice], T], rows: int, step: int) -> list[T]:
    """The results of `work` for each block of `step` rows, in order, on the allowed threads.

    The blocks do not depend on the number of threads: sums of the results taken in order are
    bitwise identical on one core and on many.
    """
    blocks = [slice(begin, min(begin + step, rows)) for begin in range(0, rows, step)]
    workers = min(_limit or _cores(), len(blocks))
    if workers <= 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, blocks))


def at_once(one: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """The results of both functions, each on its own thread where two are allowed."""
    if (_limit or _cores()) < 2:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(other)
        return one(), coming.result()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
