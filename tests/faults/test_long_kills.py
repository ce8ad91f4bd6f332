"""`kill -9`, fifty times at random times: all runs are recorded once, completely and correctly.

A killed sweep is resumed and compared bit for bit with an undisturbed one.
"""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from harness import (
    PATIENCE,
    Server,
    Tracked,
    command,
    counted,
    finish,
    folders,
    kill,
    outcomes,
    run,
)

from bythebook.experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]


def grid(seed: int, cells: int, seconds: float) -> list[str]:
    sweep = ["run", "-m", "study=misbehaving", f"seed={seed}", "jobs=2"]
    return [*sweep, f"study.seconds={seconds}", f"study.level=range(0,{cells})"]


def undisturbed(outputs: Path, sweeps: list[list[str]]) -> dict[str, str]:
    for sweep in sweeps:
        code, _, err = run(outputs, *sweep, "tracking=off")
        assert code == 0, err
    return outcomes(outputs)


def workers(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The processes that run studies: children of the fork server."""
    try:
        return [
            worker
            for server in psutil.Process(process.pid).children()
            for worker in server.children()
        ]
    except psutil.NoSuchProcess:
        return []


def test_a_sweep_is_killed_twenty_times(outputs: Path, tmp_path: Path) -> None:
    """Kill in turn the process group and the first process, at times from the start on."""
    moments = random.Random(20)
    sweeps = [grid(seed=0, cells=60, seconds=0.1)]
    kills = 0
    while kills < 20:
        process = command(outputs, *sweeps[-1])
        try:
            code = process.wait(timeout=moments.uniform(0.3, 8.0))
        except subprocess.TimeoutExpired:
            kills += 1
            own_workers = workers(process)
            if kills % 2:
                kill(process)
            else:
                os.kill(process.pid, signal.SIGKILL)
                counted("faults")
                process.communicate()
                _, alive = psutil.wait_procs(own_workers, timeout=60)
                assert alive == [], "workers run after the end of their sweep"
        else:
            assert code == 0, process.communicate()[1]
            sweeps.append(grid(seed=len(sweeps), cells=60, seconds=0.1))
    for sweep in sweeps:
        code, out, err = run(outputs, *sweep)
        assert code == 0, err
        assert "60 runs" in out
        assert ", 0 failed" in out
    assert len(folders(outputs)) == 60 * len(sweeps)
    assert outcomes(outputs) == undisturbed(tmp_path / "undisturbed", sweeps)
    Tracked(LocalTracker(outputs).uri).check_against(outputs, sweeps=len(sweeps))


def test_a_worker_is_killed_in_fifteen_sweeps(outputs: Path, tmp_path: Path) -> None:
    moments = random.Random(15)
    sweeps = [grid(seed=seed, cells=24, seconds=0.08) for seed in range(15)]
    for sweep in sweeps:
        process = command(outputs, *sweep)
        deadline = time.monotonic() + PATIENCE
        while not (found := workers(process)):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.8))
        victim = moments.choice(workers(process) or found)
        victim.kill()
        counted("faults")
        code, out, err = finish(process)
        assert code == 0, err
        assert "24 runs: 24 computed, 0 cached, 0 failed" in out
    assert len(folders(outputs)) == 24 * 15
    assert outcomes(outputs) == undisturbed(tmp_path / "undisturbed", sweeps)
    Tracked(LocalTracker(outputs).uri).check_against(outputs, sweeps=15)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "server")
    yield made
    made.kill()


def test_the_tracking_server_is_killed_fifteen_times(
    outputs: Path, tmp_path: Path, server: Server
) -> None:
    """Afterwards `sync` or the sweep itself, in turn, logs the missing runs."""
    moments = random.Random(16)
    sweeps = [grid(seed=seed, cells=12, seconds=0.3) for seed in range(15)]
    server.start().ready()
    for number, sweep in enumerate(sweeps):
        tracked = [*sweep, "tracking=server", f"tracking_uri={server.uri}"]
        process = command(outputs, *tracked)
        time.sleep(moments.uniform(2.0, 7.0))
        server.kill()
        code, out, err = finish(process)
        assert code == 0, err
        assert ", 0 failed" in out
        assert "Traceback" not in err
        server.start().ready()
        again = ["sync", "--tracking", "server", "--tracking-uri", server.uri]
        code, _, err = run(outputs, *(tracked if number % 2 else again))
        assert code == 0, err
        assert "MLflow is unavailable" not in err
    assert outcomes(outputs) == undisturbed(tmp_path / "undisturbed", sweeps)
    Tracked(server.uri).check_against(outputs, sweeps=15)
