"""Ctrl-C: the first finishes what is running, the second stops."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Stopped = Callable[[], bool]
_NOTE = b"\nbythebook: finishing what is running; Ctrl-C again stops at once\n"


def never() -> bool:
    """Nobody asks to stop."""
    return False


@contextmanager
def patient() -> Iterator[Stopped]:
    """Whether the user has asked to stop; asking a second time raises KeyboardInterrupt.

    An exception in the middle of a write to the tracking store helps nobody: the work looks at the
    answer between two runs instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield never  # only the main thread gets signals
        return
    asked = threading.Event()

    def ring(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        os.write(2, _NOTE)  # the one way of printing that a signal handler may take

    before = signal.signal(signal.SIGINT, ring)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
