"""Records which functions a test or result calls, to select those that can detect a fault."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tools.mutation_testing.faults import MODULE

Function = str  # "models/chains/hmm.py forward"


class Calls:
    """The set of functions below a folder that were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = f"{folder}/"
        self.codes: set[CodeType] = set()

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record every call within the block, in all threads that start within it."""
        before = sys.getprofile()
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    @property
    def functions(self) -> set[Function]:
        """The outermost function or method of every call, by file and name."""
        names = set()
        for code in self.codes:
            if code.co_filename.startswith(self.folder):
                file = code.co_filename.removeprefix(self.folder)
                name = code.co_qualname.partition(".<locals>")[0]
                names.add(f"{file} {MODULE if '<' in name else name}".rstrip())
        return names


@contextmanager
def record_kernels(calls: Calls) -> Iterator[None]:
    """Record calls of numba kernels, which the profiler does not see, and what they can call."""
    from bythebook.models.compiled import compiled

    original = compiled.__call__

    def recording(kernel: Any, *arguments: Any) -> Any:
        calls.codes.update(reached(kernel))
        return original(kernel, *arguments)

    compiled.__call__ = recording  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        compiled.__call__ = original  # type: ignore[method-assign]


@cache
def reached(kernel: Any) -> frozenset[CodeType]:
    """The code of a kernel and of all kernels that it calls, directly or indirectly."""
    codes: dict[str, CodeType] = {}
    waiting = [kernel]
    while waiting:
        plain = waiting.pop().plain
        codes[plain.__qualname__] = plain.__code__
        for name in plain.__code__.co_names:
            other = plain.__globals__.get(name)
            if isinstance(other, type(kernel)) and name not in codes:
                waiting.append(other)
    return frozenset(codes.values())
