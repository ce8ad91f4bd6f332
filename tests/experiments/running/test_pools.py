"""Pools: clean processes, each as it is told to begin, which leave Ctrl-C to the parent."""

import os
import signal
import subprocess
import sys
from operator import mul
from pathlib import Path

import psutil
import pytest

from experiments.running.pools import drawing_pool, process_pool


def test_a_pool_is_of_other_processes_as_many_as_asked_for() -> None:
    with process_pool(2) as pool:
        assert list(pool.map(mul, range(20), range(20))) == [i * i for i in range(20)]
        ids = set(pool.map(_identity, range(20)))
    assert os.getpid() not in ids
    assert len(ids) <= 2


def test_a_script_needs_no_guard_against_being_run_by_its_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from experiments.running.pools import process_pool\n"
        "print('begun', flush=True)\n"
        "with process_pool(2) as pool:\n"
        "    assert os.getpid() not in {pool.submit(os.getpid).result() for _ in range(4)}\n"
        "import __main__\n"
        "assert __main__.__file__ == __file__\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "begun\n"


def _identity(_: int) -> int:
    return os.getpid()


def test_a_drawing_pool_ignores_ctrl_c_and_shuts_down() -> None:
    with drawing_pool() as pool:
        before = pool.submit(signal.getsignal, signal.SIGINT).result()
    assert before is signal.SIG_IGN
    assert pool._shutdown_thread  # type: ignore[attr-defined]


def test_what_has_not_begun_is_left_undone_after_an_error() -> None:
    futures = []
    try:
        with drawing_pool() as pool:
            futures = [pool.submit(_identity, i) for i in range(1000)]
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert all(future.done() for future in futures)
    assert any(future.cancelled() for future in futures)


@pytest.mark.parametrize("pool", ["process_pool(2)", "drawing_pool()"])
def test_no_process_outlives_a_parent_that_is_killed(pool: str) -> None:
    script = (
        "import sys, time\n"
        "from experiments.running.pools import drawing_pool, process_pool\n"
        f"with {pool} as pool:\n"
        "    first = [pool.submit(time.sleep, 0) for _ in range(4)]\n"
        "    [future.result() for future in first]\n"
        "    rest = [pool.submit(time.sleep, 1000) for _ in range(4)]\n"
        "    print('at work', flush=True)\n"
        "    time.sleep(1000)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"at work\n"
    children = psutil.Process(parent.pid).children(recursive=True)
    assert len(children) >= 3  # a tracker, a server, workers
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_the_keeper_of_semaphores_may_be_killed_at_any_moment() -> None:
    """Python starts another, which must know what there is: nothing is said, nothing is left."""
    script = """
import os, signal
from multiprocessing import resource_tracker
from experiments.running import pools

for _ in range(2):
    with pools.process_pool(1) as pool:
        assert pool.submit(abs, -2).result() == 2
        print(*(name for name, _ in pools._Tracker._names))
        os.kill(resource_tracker._resource_tracker._pid, signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.stderr, ended.returncode) == ("", 0)
    names = ended.stdout.split()
    assert names
    assert not any(Path(f"/dev/shm/sem.{name.lstrip('/')}").exists() for name in names)
