"""Processes end with the command that started them; then the pipe they write to is closed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bythebook.experiments.tracking import parent_watch

TIMEOUT_S = 300  # long, because the machine may be busy
WATCHING = """
import time
from bythebook.experiments.tracking import parent_watch
parent_watch.exit_with_parent()
print("ready", flush=True)
time.sleep(600)
"""
# Like uvicorn with several workers: a worker that has ended is replaced.
SUPERVISING = f"""
import multiprocessing
while True:
    worker = multiprocessing.get_context("spawn").Process(target=exec, args=({WATCHING!r}, {{}}))
    worker.start()
    worker.join()
"""
IGNORING_SIGTERM = f"""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{WATCHING}
"""


def holding(code: str) -> str:
    return f"""
import os, subprocess, sys
from pathlib import Path
from bythebook.experiments.tracking import parent_watch
parent_watch.hold_lock(Path(os.environ[parent_watch.LOCK_ENV]))
subprocess.run([sys.executable, "-c", {code!r}])
"""


@pytest.mark.parametrize("code", [WATCHING, SUPERVISING, IGNORING_SIGTERM])
def test_all_processes_end_when_the_command_is_killed(tmp_path: Path, code: str) -> None:
    alive = tmp_path / "alive"
    with subprocess.Popen(
        [sys.executable, "-c", holding(code)],
        env={**os.environ, parent_watch.LOCK_ENV: str(alive)},
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == "ready\n"
        command.send_signal(signal.SIGKILL)
        rest, _ = command.communicate(timeout=TIMEOUT_S)  # until the last one has ended
    assert set(rest.split()) <= {"ready"}
    assert alive.stat().st_mode & 0o077 == 0


def test_a_process_without_a_command_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parent_watch.LOCK_ENV, raising=False)
    parent_watch.exit_with_parent()
