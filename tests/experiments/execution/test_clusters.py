"""Cluster launchers, tested on this machine: the same outcomes as a serial run."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.clusters import (
    DaskLauncher,
    SlurmLauncher,
    SlurmQueue,
    run_remote_chunk,
    version_mismatches,
)
from bythebook.experiments.execution.launchers import Launcher, LocalLauncher
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.execution.worker import RunOptions
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [Job(PolynomialOrder(folds=[k]), seed=s) for s in (0, 1) for k in (3, 5, 9)]


def outcomes(folder: Path, launcher: Launcher) -> dict[str, Outcome]:
    return {d.record["key"]: d.record.outcome for d in run_jobs(JOBS, folder, launcher)}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return outcomes(tmp_path_factory.mktemp("serial"), LocalLauncher(1))


@pytest.fixture
def dask_address(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler with two worker processes."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    start += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    processes = [subprocess.Popen(start, **quiet)]  # type: ignore[call-overload]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    processes.append(subprocess.Popen([*worker, "--local-directory", str(tmp_path)], **quiet))  # type: ignore[call-overload]
    try:
        from distributed import Client

        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            yield client.scheduler.address
    finally:
        for process in processes[::-1]:
            process.terminate()
            process.wait(timeout=30)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_identical_outcomes(
    serial: dict[str, Outcome], dask_address: str, outputs: Path
) -> None:
    same(outcomes(outputs, DaskLauncher(dask_address)), serial)
    sweep = ["run", "-m", "study=polynomial_order", "study.partitions=3,5", "tracking=off"]
    assert main([*sweep, "launcher=dask", f"launcher.address={dask_address}"]) == 0


@pytest.mark.filterwarnings("ignore")
def test_submitit_gives_identical_outcomes(serial: dict[str, Outcome], outputs: Path) -> None:
    pytest.importorskip("submitit")
    same(outcomes(outputs, SlurmLauncher(cluster="local", workers=2)), serial)


def same(found: dict[str, Outcome], expected: dict[str, Outcome]) -> None:
    assert found.keys() == expected.keys()
    for key, outcome in expected.items():
        assert diff_outcomes(outcome, found[key]) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("misbehaving")
def test_a_killed_slurm_job_affects_its_own_run_only(outputs: Path) -> None:
    pytest.importorskip("submitit")
    study = studies()["misbehaving"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(["well", "die", "well"])]
    launcher = SlurmLauncher(cluster="local", workers=1)
    records = {d.index: d.record for d in run_jobs(jobs, outputs, launcher)}
    assert [records[i].finished for i in range(3)] == [True, False, True]


def versions(**changed: str | None) -> dict[str, Any]:
    """Versions of a client, its scheduler and a worker with some others, as Dask returns them."""
    own = {"python": "3.11.7.final.0", "dask": "1", "distributed": "1"}
    own |= dict.fromkeys(("bythebook", "numpy", "scipy", "numba"), "2")
    machines = {"client": own, "scheduler": {**own, "numpy": None}, "worker": {**own, **changed}}
    content: dict[str, Any] = {name: {"packages": v} for name, v in machines.items()}
    return {**content, "workers": {"tcp://w:1": content["worker"]}}


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, None),
        ({"python": "3.11.9.final.0"}, None),
        ({"python": "3.12.0.final.0"}, "python 3.12 on tcp://w:1, 3.11 here"),
        ({"distributed": "0"}, "distributed 0 on tcp://w:1, 1 here"),
        ({"bythebook": None}, "bythebook is missing on tcp://w:1, 2 here"),
    ],
)
def test_different_versions_are_reported_in_one_line(
    changed: dict[str, str | None], line: str | None
) -> None:
    assert list(version_mismatches(versions(**changed))) == ([line] if line else [])


def test_a_worker_with_different_code_computes_nothing(outputs: Path) -> None:
    """Its numbers would be recorded under the key of the code here."""
    job = Job(PolynomialOrder(folds=[3])).with_key("0123456789abcdef")
    with pytest.raises(InputError, match="has different code or data than this machine"):
        run_remote_chunk([job], RunOptions(outputs, {}))
    assert not list(outputs.iterdir())


@pytest.fixture
def slurm_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that creates a Slurm tool with some output and exit code, first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")

    def create(tool: str, words: str = "", code: int = 0) -> None:
        stream = 2 if code else 1
        (folder / tool).write_text(f"#!/bin/sh\nprintf '{words}' >&{stream}\nexit {code}\n")
        (folder / tool).chmod(0o755)

    return create


def test_a_job_is_finished_with_a_result_or_when_missing_in_the_queue(
    tmp_path: Path, slurm_tool: Callable[..., None]
) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    jobs = {
        name: SimpleNamespace(
            job_id=name, paths=SimpleNamespace(result_pickle=folder / f"{name}_0_result.pkl")
        )
        for name in ("7_0", "7_1", "7_2")
    }
    (folder / "7_0_0_result.pkl").touch()

    def finished(*, grace: float, **state: Any) -> list[str]:
        slurm_tool("squeue", **state)
        queue = SlurmQueue(folder, pause=0.0, grace=grace)
        for job in jobs.values():
            queue.is_finished(job)
        time.sleep(0.01)
        return [name for name, job in jobs.items() if queue.is_finished(job)]

    assert finished(grace=0.0, words="7_1\\n") == ["7_0", "7_2"]
    assert finished(grace=60.0, words="7_1\\n") == ["7_0"]  # its result may appear later
    assert finished(grace=0.0, words="no controller", code=1) == ["7_0"]
    assert finished(grace=0.0) == ["7_0", "7_1", "7_2"]


def test_a_rejected_sweep_is_reported_in_one_line(
    outputs: Path, slurm_tool: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("submitit")
    slurm_tool("srun")
    slurm_tool("sbatch", "sbatch: error: invalid partition specified: nope\\n", code=1)
    sweep = ["run", "-m", "study=polynomial_order", "study.partitions=3,5", "tracking=off"]
    assert main([*sweep, "launcher=slurm", "+launcher.options.slurm_partition=nope"]) == 2
    lines = [line for line in capfd.readouterr().err.splitlines() if line]
    assert lines == [
        "bythebook: Slurm rejected the sweep: sbatch: error: invalid partition specified: nope"
    ]
