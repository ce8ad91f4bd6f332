"""Sweeps on clusters that are really there: jobs, sweeps and schedulers killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import one_node
import pytest
from harness import Tracked, command, counted, finish, folders, kill, outcomes, run, wait_for
from one_node import OneNode

from experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.5", "study.level=range(0,8)"]
ON_SLURM = [*SWEEP, "launch=slurm", "launch.workers=2", "launch.memory_gb=1"]
WHOLE = "8 cells: 8 computed, 0 found, 0 failed"


@pytest.fixture(scope="module")
def cluster() -> Iterator[OneNode]:
    pytest.importorskip("submitit")
    reason = one_node.missing()
    if reason:
        pytest.skip(reason)
    made = OneNode()
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    outputs = tmp_path_factory.mktemp("serial")
    assert run(outputs, *SWEEP, "tracking=off")[0] == 0
    return outcomes(outputs)


def check(outputs: Path, serial: dict[str, str]) -> None:
    counted("records", len(serial))
    assert outcomes(outputs) == serial
    Tracked(LocalTracker(outputs).uri).check_against(outputs, sweeps=1)


def test_a_job_of_slurms_is_killed(outputs: Path, serial: dict[str, str], cluster: OneNode) -> None:
    """Its run is made again; the others, and the last bit, stay as they are on this machine."""
    process = command(outputs, *ON_SLURM, **cluster.environment)
    wait_for(cluster.running)
    cluster.ask("scancel", "--full", "--signal=KILL", cluster.running()[0])
    counted("faults")
    code, out, err = finish(process)
    assert code == 0, err
    assert WHOLE in out
    assert "submitit" not in err
    check(outputs, serial)


def test_a_sweep_is_killed_while_its_jobs_run(
    outputs: Path, serial: dict[str, str], cluster: OneNode
) -> None:
    """They go on without it, and what they record is found."""
    process = command(outputs, *ON_SLURM, **cluster.environment)
    wait_for(lambda: len(folders(outputs)) >= 2)
    kill(process)
    assert cluster.running()
    code, out, err = run(outputs, *ON_SLURM, **cluster.environment)
    assert code == 0, err
    assert ", 0 failed" in out
    wait_for(lambda: not cluster.ask("squeue", "--noheader"))
    check(outputs, serial)


def test_what_slurm_refuses_is_one_line(outputs: Path, cluster: OneNode) -> None:
    wrong = "+launch.options.slurm_partition=nope"
    code, _, err = run(outputs, *ON_SLURM, wrong, "tracking=off", **cluster.environment)
    assert code == 2
    assert [line for line in err.splitlines() if line.startswith("bythebook: Slurm refuses")]
    assert "Traceback" not in err


def test_dasks_scheduler_is_killed_in_mid_sweep(
    outputs: Path, serial: dict[str, str], tmp_path: Path
) -> None:
    """One line says so; with another scheduler the same command goes on."""
    pytest.importorskip("distributed")
    for attempt in range(2):
        file = tmp_path / f"scheduler-{attempt}.json"
        start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
        start += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
        work += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with (
            subprocess.Popen(start, **quiet) as scheduler,  # type: ignore[call-overload]
            subprocess.Popen(work, **quiet) as worker,  # type: ignore[call-overload]
        ):
            try:
                address = _ready(str(file))
                there = ["launch=dask", f"launch.address={address}"]
                process = command(outputs, *SWEEP, *there)
                if attempt == 0:
                    wait_for(lambda: len(folders(outputs)) >= 2)
                    os.kill(scheduler.pid, signal.SIGKILL)
                    counted("faults")
                code, _, err = finish(process)
            finally:
                worker.terminate()
                scheduler.terminate()
        assert code == (0 if attempt else 2), err
        assert ("is gone; what is done is recorded" in err) == (attempt == 0)
        assert "Traceback" not in err
    check(outputs, serial)


def _ready(file: str) -> str:
    from distributed import Client

    with Client(scheduler_file=file, timeout=120) as client:
        client.wait_for_workers(1, timeout=120)
        return str(client.scheduler.address)
