"""Loops that NumPy has no words for: compiled at their first call, spread over threads in blocks.

numba costs half a second to import and a kernel seconds to compile, once a machine (its cache is on
disk): who never runs a recursion pays for neither. Only plain functions are compiled. numba's
generalised ufuncs are not used: two processes that compile one at the same moment spoil the cache
for everybody after them.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from typing import Any, TypeVar

T = TypeVar("T")

_limit: int | None = None


class compiled:  # a decorator
    """The same function, compiled when it is first called; other threads run meanwhile.

    Compiled functions of one module may call each other. `plain` is the function as written.
    """

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain
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
        return self.kernel(*arguments)


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


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
