"""Kernels compile when called, call each other, and run in blocks that keep their order."""

import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from bythebook.models import compiled as module
from bythebook.models.compiled import at_once, compiled, in_blocks, threads
from bythebook.models.types import Floats


@compiled
def square(x: float) -> float:
    """The square of a number."""
    return x * x


@compiled
def sum_of_squares(x: Floats) -> float:
    total = 0.0
    for value in x:
        total += square(value)
    return total


def test_kernels_call_each_other_and_remember_what_they_were() -> None:
    x = np.arange(5.0)
    assert sum_of_squares(x) == 30.0
    assert sum_of_squares.plain(x) == 30.0
    assert (square.__name__, square.__doc__) == ("square", "The square of a number.")


def test_division_by_zero_is_that_of_numpy() -> None:
    @compiled
    def inverse(x: float) -> float:
        return 1.0 / x

    assert inverse(0.0) == np.inf


def test_numba_is_not_imported_before_the_first_call() -> None:
    code = "import sys, bythebook.models.compiled as c; c.compiled(abs); "
    code += "sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


KERNEL = """
from bythebook.models.compiled import compiled

@compiled
def kernel(x):
    return x + 1
"""
FIRST_CALL = """
import sys, time
sys.path.insert(0, sys.argv[1])
from slow import kernel
print("ready", flush=True)
sys.stdin.readline()
assert kernel(1.0) == 2.0
print(sum(kernel.kernel.stats.cache_misses.values()))
"""


def test_one_process_compiles_for_those_that_wait(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", FIRST_CALL, str(tmp_path)]
    pipe = subprocess.PIPE
    workers = [
        subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    misses = [int(worker.communicate(timeout=120)[0]) for worker in workers]
    assert sorted(misses) == [0, 0, 1]


def test_without_a_place_for_the_lock_a_kernel_compiles_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with module._alone(tmp_path / "file" / "x.lock"):
        pass
    with pytest.raises(OSError, match="mine"), module._alone(tmp_path / "x.lock"):
        raise OSError("mine")


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_blocks_cover_the_rows_in_order(limit: int) -> None:
    with threads(limit):
        blocks = in_blocks(lambda block: list(range(100))[block], 100, 7)
        assert in_blocks(lambda block: block, 0, 7) == []
        assert in_blocks(lambda block: block, 7, 7) == [slice(0, 7)]
    assert [len(block) for block in blocks] == [7] * 14 + [2]
    assert list(itertools.chain(*blocks)) == list(range(100))


def test_sums_over_blocks_have_the_same_bits_on_any_number_of_threads() -> None:
    x = np.random.default_rng(0).normal(size=100_000)
    sums = []
    for limit in (1, 2, 3):
        with threads(limit):
            sums.append(sum(in_blocks(lambda block: sum_of_squares(x[block]), len(x), 1000)))
    assert sums[0] == sums[1] == sums[2]
    np.testing.assert_allclose(sums[0], x @ x, rtol=1e-12)


def test_two_threads_work_at_the_same_time_and_one_alone_in_this_one() -> None:
    meeting = threading.Barrier(2, timeout=10)
    with threads(2):
        assert len(set(in_blocks(lambda _: meeting.wait(), 2, 1))) == 2
    with threads(1):
        names = in_blocks(lambda _: threading.current_thread(), 3, 1)
    assert set(names) == {threading.current_thread()}


def test_two_tasks_at_once_are_two_threads_if_allowed() -> None:
    meeting = threading.Barrier(2, timeout=10)
    with threads(2):
        assert sorted(at_once(meeting.wait, meeting.wait)) == [0, 1]
    with threads(1):
        here = threading.current_thread()
        assert at_once(threading.current_thread, threading.current_thread) == (here, here)
        assert at_once(lambda: 1, lambda: "a") == (1, "a")


def test_the_limit_is_restored_also_after_an_error() -> None:
    def used() -> bool:
        """Whether the work leaves this thread."""
        here = threading.current_thread()
        return any(there != here for there in in_blocks(lambda _: threading.current_thread(), 4, 1))

    def fails(block: slice) -> None:
        raise ZeroDivisionError(block)

    with threads(2):
        with threads(1):
            assert not used()
        assert used()
        for limit in (1, 2):
            with pytest.raises(ZeroDivisionError), threads(limit):
                in_blocks(fails, 4, 1)
            assert used()


def test_a_system_that_counts_no_cores_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(module.os, "sched_getaffinity", raising=False)
    for found, cores in ((7, 7), (None, 1)):
        monkeypatch.setattr(module.os, "cpu_count", lambda found=found: found)
        assert module._cores() == cores
