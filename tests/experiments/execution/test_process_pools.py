"""Pools of processes: initialised, ended with their parent, and not affected by Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from operator import mul
from pathlib import Path

import psutil
import pytest

from bythebook.experiments.execution.process_pools import figure_pool, process_pool


def test_a_pool_has_the_requested_number_of_other_processes() -> None:
    with process_pool(2) as pool:
        assert list(pool.map(mul, range(20), range(20))) == [i * i for i in range(20)]
        ids = {future.result() for future in [pool.submit(os.getpid) for _ in range(20)]}
    assert os.getpid() not in ids
    assert len(ids) <= 2


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from bythebook.experiments.execution.process_pools import process_pool\n"
        "print('started', flush=True)\n"
        "with process_pool(2) as pool:\n"
        "    assert os.getpid() not in {pool.submit(os.getpid).result() for _ in range(4)}\n"
        "import __main__\n"
        "assert __main__.__file__ == __file__\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "started\n"


def test_a_figure_pool_ignores_ctrl_c_and_shuts_down() -> None:
    with figure_pool() as pool:
        before = pool.submit(signal.getsignal, signal.SIGINT).result()
    assert before is signal.SIG_IGN
    assert pool._shutdown_thread  # type: ignore[attr-defined]


def test_calls_that_have_not_started_are_cancelled_after_an_error() -> None:
    futures = []
    try:
        with figure_pool() as pool:
            futures = [pool.submit(time.sleep, 0.2) for _ in range(1000)]  # minutes of work
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert all(future.done() for future in futures)
    assert any(future.cancelled() for future in futures)


@pytest.mark.parametrize("pool", ["process_pool(2)", "figure_pool()"])
def test_all_processes_end_with_a_killed_parent(pool: str) -> None:
    script = (
        "import sys, time\n"
        "from bythebook.experiments.execution.process_pools import figure_pool, process_pool\n"
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


def test_the_resource_tracker_may_be_killed_at_any_time() -> None:
    """Python starts another one, which must know all semaphores: no output, none is left."""
    script = """
import os, signal
from multiprocessing import resource_tracker
from bythebook.experiments.execution import process_pools

for _ in range(2):
    with process_pools.process_pool(1) as pool:
        assert pool.submit(abs, -2).result() == 2
        tracker = process_pools._ResilientResourceTracker
        print(*(name for name, _ in tracker._names))
        os.kill(resource_tracker._resource_tracker._pid, signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.stderr, ended.returncode) == ("", 0)
    names = ended.stdout.split()
    assert names
    assert not any(Path(f"/dev/shm/sem.{name.lstrip('/')}").exists() for name in names)
