"""Other machines, tried on this one: the same bits as a serial run."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.cli import main
from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, differences
from experiments.contract.study import studies
from experiments.running.clusters import Dask, Queue, Slurm, run_elsewhere, unlike
from experiments.running.launchers import Launcher, Processes
from experiments.running.runner import perform_all
from experiments.running.work import Order
from experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [Job(PolynomialOrder(methods=["kfold"], folds=k), seed=s) for s in (0, 1) for k in (3, 5, 9)]


def outcomes(folder: Path, launcher: Launcher) -> dict[str, Outcome]:
    return {d.record["key"]: d.record.outcome for d in perform_all(JOBS, folder, launcher)}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return outcomes(tmp_path_factory.mktemp("serial"), Processes(1))


@pytest.fixture
def dask_address(tmp_path: Path) -> Iterator[str]:
    """A scheduler and two worker processes, as a user would start them."""
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
def test_a_dask_cluster_gives_the_same_bits(
    serial: dict[str, Outcome], dask_address: str, outputs: Path
) -> None:
    same(outcomes(outputs, Dask(dask_address)), serial)
    sweep = ["run", "-m", "study=polynomial_order", "study.folds=3,5", "tracking=off"]
    assert main([*sweep, "launch=dask", f"launch.address={dask_address}"]) == 0


@pytest.mark.filterwarnings("ignore")
def test_submitit_gives_the_same_bits(serial: dict[str, Outcome], outputs: Path) -> None:
    pytest.importorskip("submitit")
    same(outcomes(outputs, Slurm(cluster="local", workers=2)), serial)


def same(found: dict[str, Outcome], expected: dict[str, Outcome]) -> None:
    assert found.keys() == expected.keys()
    for key, outcome in expected.items():
        assert differences(outcome, found[key]) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("misbehaving")
def test_a_slurm_job_that_dies_takes_only_its_own_run_with_it(outputs: Path) -> None:
    pytest.importorskip("submitit")
    study = studies()["misbehaving"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(["well", "die", "well"])]
    launcher = Slurm(cluster="local", workers=1)
    records = {d.index: d.record for d in perform_all(jobs, outputs, launcher)}
    assert [records[i].finished for i in range(3)] == [True, False, True]


def versions(**there: str | None) -> dict[str, Any]:
    """What Dask tells of a client, its scheduler and a worker that has something else."""
    mine = {"python": "3.11.7.final.0", "dask": "1", "distributed": "1"}
    mine |= dict.fromkeys(("bythebook", "numpy", "scipy", "numba"), "2")
    places = {"client": mine, "scheduler": {**mine, "numpy": None}, "worker": {**mine, **there}}
    told: dict[str, Any] = {name: {"packages": content} for name, content in places.items()}
    return {**told, "workers": {"tcp://w:1": told["worker"]}}


@pytest.mark.parametrize(
    ("there", "line"),
    [
        ({}, None),
        ({"python": "3.11.9.final.0"}, None),
        ({"python": "3.12.0.final.0"}, "python 3.12 on tcp://w:1, 3.11 here"),
        ({"distributed": "0"}, "distributed 0 on tcp://w:1, 1 here"),
        ({"bythebook": None}, "bythebook is missing on tcp://w:1, 2 here"),
    ],
)
def test_a_cluster_of_other_versions_is_told_in_a_line(
    there: dict[str, str | None], line: str | None
) -> None:
    assert list(unlike(versions(**there))) == ([line] if line else [])


def test_a_worker_with_other_code_computes_nothing(outputs: Path) -> None:
    """Its numbers would be recorded as those of the code here."""
    job = Job(PolynomialOrder(methods=["kfold"], folds=3)).known("0123456789abcdef")
    with pytest.raises(BadInput, match="has other code or data than this machine"):
        run_elsewhere([job], Order(outputs, {}))
    assert not list(outputs.iterdir())


@pytest.fixture
def slurm_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Tools of Slurm's that say what a test wants, first on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")

    def say(tool: str, words: str = "", code: int = 0) -> None:
        stream = 2 if code else 1
        (folder / tool).write_text(f"#!/bin/sh\nprintf '{words}' >&{stream}\nexit {code}\n")
        (folder / tool).chmod(0o755)

    return say


def test_a_job_is_over_with_its_result_or_when_slurm_no_longer_has_it(
    tmp_path: Path, slurm_says: Callable[..., None]
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

    def over(*, grace: float, **state: Any) -> list[str]:
        slurm_says("squeue", **state)
        queue = Queue(folder, pause=0.0, grace=grace)
        for job in jobs.values():
            queue.is_over(job)
        time.sleep(0.01)
        return [name for name, job in jobs.items() if queue.is_over(job)]

    assert over(grace=0.0, words="7_1\\n") == ["7_0", "7_2"]
    assert over(grace=60.0, words="7_1\\n") == ["7_0"]  # its result may be on its way
    assert over(grace=0.0, words="no controller", code=1) == ["7_0"]
    assert over(grace=0.0) == ["7_0", "7_1", "7_2"]


def test_a_sweep_that_slurm_refuses_is_one_line(
    outputs: Path, slurm_says: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("submitit")
    slurm_says("srun")
    slurm_says("sbatch", "sbatch: error: invalid partition specified: nope\\n", code=1)
    sweep = ["run", "-m", "study=polynomial_order", "study.folds=3,5", "tracking=off"]
    assert main([*sweep, "launch=slurm", "+launch.options.slurm_partition=nope"]) == 2
    told = [line for line in capfd.readouterr().err.splitlines() if line]
    assert told == [
        "bythebook: Slurm refuses the sweep: sbatch: error: invalid partition specified: nope"
    ]
