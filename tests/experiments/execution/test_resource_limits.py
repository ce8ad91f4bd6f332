"""Time and memory limits: enforced in the block, and restored after it."""

import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest

from bythebook.experiments.execution.resource_limits import TimeLimitExceeded, resource_limits


def state() -> tuple[object, ...]:
    alarm = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    return (*alarm, resource.getrlimit(resource.RLIMIT_AS))


def test_a_time_limit_is_enforced_and_restored() -> None:
    before = state()
    with (
        pytest.raises(TimeLimitExceeded, match=r"after 0\.05 s \(limits\.timeout\)"),
        resource_limits(0.05, None),
    ):
        time.sleep(600)
    assert state() == before


def test_limits_that_are_not_reached_are_restored() -> None:
    before = state()
    with resource_limits(600.0, 64.0):
        assert state() != before
    assert state() == before
    with resource_limits(None, None):
        assert state() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="enforced on Linux only")
def test_a_memory_limit_is_enforced_and_restored() -> None:
    size = 2**29 // 8  # half a gibibyte of floats, beyond what the process has
    with resource_limits(None, 0.25), pytest.raises(MemoryError):
        np.empty(size)
    with resource_limits(None, 2.0):
        assert np.empty(size).size == size


def test_a_thread_has_no_time_limit() -> None:
    done: list[bool] = []

    def work() -> None:
        with resource_limits(0.001, None):
            time.sleep(0.1)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
