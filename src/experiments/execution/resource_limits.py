"""Time and memory limits of one run."""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


class TimeLimitExceeded(Exception):
    """A run exceeded its time limit."""


@contextmanager
def resource_limits(timeout: float | None, memory_gb: float | None) -> Iterator[None]:
    """Raise `TimeLimitExceeded` or MemoryError in the block if it exceeds a limit."""
    with _time_limit(timeout), _memory_limit(memory_gb):
        yield


@contextmanager
def _time_limit(timeout: float | None) -> Iterator[None]:
    # Only the main thread of a process can be interrupted by a signal.
    if timeout is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_alarm(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitExceeded(f"stopped after {timeout:g} s (limits.timeout)")

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _memory_limit(gigabytes: float | None) -> Iterator[None]:
    if gigabytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped_bytes() + int(gigabytes * 2**30), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped_bytes() -> int:
    """The memory that the process has mapped already, for example for libraries."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return pages * resource.getpagesize()
    except OSError:  # macOS has no /proc, and does not enforce the limit
        return 0
