"""Other machines, tried on this one: the same bits as a serial run."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.jobs import Job
from experiments.contract.outcome import Outcome, differences
from experiments.contract.study import studies
from experiments.running.launchers import Launcher, Processes, Slurm
from experiments.running.runner import perform_all
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
    from experiments.running.launchers import Dask

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


@pytest.mark.usefixtures("outputs")
def test_a_cluster_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["run", "-m", "study=polynomial_order", "seed=0,1", "tracking=off", "launch=dask"]
    assert main(sweep) == 2
    assert "launch.address=" in capsys.readouterr().err


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("launcher", [Processes(1), Processes(2)])
def test_a_run_that_hangs_is_stopped_at_its_limit(outputs: Path, launcher: Launcher) -> None:
    study = studies()["misbehaving"]
    jobs = [Job(study(seconds=seconds)) for seconds in (60.0, 0.0)]
    done = {d.index: d.record for d in perform_all(jobs, outputs, launcher, seconds=1.0)}
    assert [done[i].finished for i in range(2)] == [False, True]
    assert done[0]["error"]["type"] == "TimeLimit"
    assert "limit.seconds" in done[0]["error"]["message"]


@pytest.mark.usefixtures("misbehaving")
def test_a_run_that_eats_memory_is_stopped_at_its_limit(outputs: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the limit is enforced on Linux only")
    study = studies()["misbehaving"]
    jobs = [Job(study(way="eat", level=level)) for level in (4, 0)]  # 4 GiB and nothing
    done = {d.index: d.record for d in perform_all(jobs, outputs, Processes(2), memory_gb=1.0)}
    assert [done[i].finished for i in range(2)] == [False, True]
    assert done[0]["error"]["type"].endswith("MemoryError")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["launch=slurm"], "there is no Slurm here"),
        (["launch=dask", "launch.address=nonsense://x"], "launch.address=<tcp://host:port"),
        (["launch=dask", "launch.address=tcp://127.0.0.1:1"], "no Dask scheduler answers"),
        (
            ["launch=slurm", "launch.cluster=local", "+launch.options.slurm_nonsense=1"],
            "Unknown argument 'nonsense'",
        ),
    ],
)
def test_a_launcher_that_cannot_be_had_is_told_before_anything_is_written(
    words: list[str],
    told: str,
    outputs: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert told in refused("run", "-m", "study=polynomial_order", "seed=0,1", *words)
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_a_pool_that_breaks_between_two_chunks_costs_the_run_that_broke_it(outputs: Path) -> None:
    """A worker dies while a second chunk waits at its door and a third is being handed over."""
    study = studies()["misbehaving"]
    ways = ["well", "die", *["well"] * 10]
    jobs = [Job(study(way=way), seed=seed) for seed, way in enumerate(ways)]
    found = {d.index: d.record.finished for d in perform_all(jobs, outputs, Processes(2, ahead=3))}
    assert found == {index: way == "well" for index, way in enumerate(ways)}
