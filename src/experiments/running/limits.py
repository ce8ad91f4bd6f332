"""Limits on one run: time by an alarm, memory by the operating system."""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


class TimeLimit(Exception):
    """A run took longer than it may."""


@contextmanager
def limited(seconds: float | None, memory_gb: float | None) -> Iterator[None]:
    """Raise TimeLimit or MemoryError in the block when it uses more than it may."""
    with _time(seconds), _memory(memory_gb):
        yield


@contextmanager
def _time(seconds: float | None) -> Iterator[None]:
    # Only the main thread of a process can be interrupted by a signal.
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimit(f"stopped after {seconds:g} s (limit.seconds)")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _memory(gigabytes: float | None) -> Iterator[None]:
    if gigabytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + int(gigabytes * 2**30), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """What the process has mapped already (libraries, stacks): not the run's to answer for."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return pages * resource.getpagesize()
    except OSError:  # no /proc on macOS, where the limit is not enforced either
        return 0
