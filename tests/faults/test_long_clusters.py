"""Sweeps on real clusters, with killed jobs, sweeps and schedulers."""

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

from bythebook.experiments.tracking.local import LocalTracker

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]

SWEEP = ["run", "-m", "study=misbehaving", "study.seconds=0.5", "study.level=range(0,8)"]
ON_SLURM = [*SWEEP, "launcher=slurm", "launcher.workers=2", "launcher.memory_gb=1"]
COMPLETE = "8 runs: 8 computed, 0 cached, 0 failed"


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


def test_a_slurm_job_is_killed(outputs: Path, serial: dict[str, str], cluster: OneNode) -> None:
    """Its run is computed again; all runs are bitwise identical to those of a serial sweep."""
    process = command(outputs, *ON_SLURM, **cluster.environment)
    wait_for(cluster.running)
    cluster.ask("scancel", "--full", "--signal=KILL", cluster.running()[0])
    counted("faults")
    code, out, err = finish(process)
    assert code == 0, err
    assert COMPLETE in out
    assert "submitit" not in err
    check(outputs, serial)


def test_a_sweep_is_killed_while_its_jobs_run(
    outputs: Path, serial: dict[str, str], cluster: OneNode
) -> None:
    """The jobs continue, and their records are used."""
    process = command(outputs, *ON_SLURM, **cluster.environment)
    wait_for(lambda: len(folders(outputs)) >= 2)
    kill(process)
    assert cluster.running()
    code, out, err = run(outputs, *ON_SLURM, **cluster.environment)
    assert code == 0, err
    assert ", 0 failed" in out
    wait_for(lambda: not cluster.ask("squeue", "--noheader"))
    check(outputs, serial)


def test_a_sweep_that_slurm_rejects_gives_one_line(outputs: Path, cluster: OneNode) -> None:
    wrong = "+launcher.options.slurm_partition=nope"
    code, _, err = run(outputs, *ON_SLURM, wrong, "tracking=off", **cluster.environment)
    assert code == 2
    assert [line for line in err.splitlines() if line.startswith("bythebook: Slurm rejected")]
    assert "Traceback" not in err


def test_the_dask_scheduler_is_killed_during_a_sweep(
    outputs: Path, serial: dict[str, str], tmp_path: Path
) -> None:
    """The error is one line; with another scheduler the same command resumes the sweep."""
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
                launcher = ["launcher=dask", f"launcher.address={address}"]
                process = command(outputs, *SWEEP, *launcher)
                if attempt == 0:
                    wait_for(lambda: len(folders(outputs)) >= 2)
                    os.kill(scheduler.pid, signal.SIGKILL)
                    counted("faults")
                code, _, err = finish(process)
            finally:
                worker.terminate()
                scheduler.terminate()
        assert code == (0 if attempt else 2), err
        assert ("lost the connection to the Dask scheduler" in err) == (attempt == 0)
        assert "Traceback" not in err
    check(outputs, serial)


def _ready(file: str) -> str:
    from distributed import Client

    with Client(scheduler_file=file, timeout=120) as client:
        client.wait_for_workers(1, timeout=120)
        return str(client.scheduler.address)
