"""Handling of Ctrl-C: the first one lets running jobs finish, the second one stops at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

StopCheck = Callable[[], bool]
_INTERRUPT_MESSAGE = b"\nbythebook: finishing the running jobs; Ctrl-C again stops at once\n"


def never_stop() -> bool:
    """A stop check without a request to stop."""
    return False


@contextmanager
def graceful_interrupts() -> Iterator[StopCheck]:
    """Context manager: the first Ctrl-C sets a flag, the second raises KeyboardInterrupt.

    It yields a function that returns the flag, for a check between two runs: an exception could
    interrupt a write to the tracking store.
    """
    if threading.current_thread() is not threading.main_thread():
        yield never_stop  # only the main thread receives signals
        return
    requested = threading.Event()

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()
        os.write(2, _INTERRUPT_MESSAGE)  # print() is not safe in a signal handler

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield requested.is_set
    finally:
        signal.signal(signal.SIGINT, before)
