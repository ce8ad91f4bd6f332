"""What a command has started ends with it: the pipe that all of them write to is closed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.tracking import lifeline

PATIENCE = 300  # seconds: a machine may be busy with other things
WATCHING = """
import time
from experiments.tracking import lifeline
lifeline.watch()
print("ready", flush=True)
time.sleep(600)
"""
# As uvicorn does with several workers: one that has ended is replaced.
SUPERVISING = f"""
import multiprocessing
while True:
    worker = multiprocessing.get_context("spawn").Process(target=exec, args=({WATCHING!r}, {{}}))
    worker.start()
    worker.join()
"""
DEAF = f"""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{WATCHING}
"""


def holding(code: str) -> str:
    return f"""
import os, subprocess, sys
from pathlib import Path
from experiments.tracking import lifeline
lifeline.hold(Path(os.environ[lifeline.ALIVE]))
subprocess.run([sys.executable, "-c", {code!r}])
"""


@pytest.mark.parametrize("code", [WATCHING, SUPERVISING, DEAF])
def test_nothing_outlives_a_command_that_is_killed(tmp_path: Path, code: str) -> None:
    alive = tmp_path / "alive"
    with subprocess.Popen(
        [sys.executable, "-c", holding(code)],
        env={**os.environ, lifeline.ALIVE: str(alive)},
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == "ready\n"
        command.send_signal(signal.SIGKILL)
        rest, _ = command.communicate(timeout=PATIENCE)  # until the last of them is gone
    assert set(rest.split()) <= {"ready"}
    assert alive.stat().st_mode & 0o077 == 0


def test_a_process_that_no_command_started_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(lifeline.ALIVE, raising=False)
    lifeline.watch()
