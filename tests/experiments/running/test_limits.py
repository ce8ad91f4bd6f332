"""Limits: what uses more than it may is stopped, and the process is as it was."""

import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest

from experiments.running.limits import TimeLimit, limited


def state() -> tuple[object, ...]:
    alarm = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]
    return (*alarm, resource.getrlimit(resource.RLIMIT_AS))


def test_too_long_is_stopped_and_nothing_is_left() -> None:
    before = state()
    with pytest.raises(TimeLimit, match=r"after 0\.05 s \(limit\.seconds\)"), limited(0.05, None):
        time.sleep(600)
    assert state() == before


def test_what_keeps_within_its_limits_is_left_alone() -> None:
    before = state()
    with limited(600.0, 64.0):
        assert state() != before
    assert state() == before
    with limited(None, None):
        assert state() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="enforced on Linux only")
def test_too_large_is_stopped_and_may_be_had_again_after() -> None:
    size = 2**29 // 8  # half a gibibyte of floats, beyond what the process has
    with limited(None, 0.25), pytest.raises(MemoryError):
        np.empty(size)
    with limited(None, 2.0):
        assert np.empty(size).size == size


def test_a_thread_cannot_be_interrupted_and_is_not() -> None:
    done: list[bool] = []

    def work() -> None:
        with limited(0.001, None):
            time.sleep(0.1)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
