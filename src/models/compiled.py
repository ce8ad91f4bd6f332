"""Loops that NumPy has no words for: compiled at their first call, spread over threads in blocks.

numba costs half a second to import and a kernel seconds to compile, once a machine (its cache is on
disk): who never runs a recursion pays for neither. Only plain functions are compiled. numba's
generalised ufuncs are not used: two processes that compile one at the same moment spoil the cache
for everybody after them. Of processes that need the kernels of a file at the same moment one
compiles, and the others wait and load.
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
        """What numba made of it."""
        import numba

        made: Callable[..., Any] = numba.njit(cache=True, nogil=True, error_model="numpy")(
            self.plain
        )
        return made

    @property
    def _numba_type_(self) -> Any:  # numba asks for it where one kernel calls another
        import numba

        return numba.typeof(self.kernel)  # type: ignore[no-untyped-call]

    def __call__(self, *arguments: Any) -> Any:
        if not self.ready:
            self._compile_or_load(arguments)
        return self.kernel(*arguments)

    def _compile_or_load(self, arguments: tuple[Any, ...]) -> None:
        """Make the kernel for arguments of these types; running it is left to the caller."""
        import numba

        kernel: Any = self.kernel
        with _alone(Path(kernel.stats.cache_path) / f"{self.plain.__module__}.lock"):
            types = tuple(numba.typeof(value) for value in arguments)  # type: ignore[no-untyped-call]
            kernel.compile(types)
        self.ready = True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """No other process is within, where the system knows such locks: it only saves work."""
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            import fcntl

            path.parent.mkdir(parents=True, exist_ok=True)
            lock = held.enter_context(path.open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)  # freed by the system, however its holder ends
        yield


@contextmanager
def threads(limit: int) -> Iterator[None]:
    """At most so many threads within: one, where other processes have the other cores."""
    global _limit
    before, _limit = _limit, limit
    try:
        yield
    finally:
        _limit = before


def in_blocks(work: Callable[[slice], T], rows: int, step: int) -> list[T]:
    """What `work` gives for each block of `step` rows, in order, on as many threads as allowed.

    The blocks do not depend on the number of threads: sums of the results taken in order are the
    same to the bit on one core and on many.
    """
    blocks = [slice(begin, min(begin + step, rows)) for begin in range(0, rows, step)]
    workers = min(_limit or _cores(), len(blocks))
    if workers <= 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, blocks))


def at_once(one: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """What both give, each on a thread of its own where two are allowed."""
    if (_limit or _cores()) < 2:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(other)
        return one(), coming.result()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
