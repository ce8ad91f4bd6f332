"""Launchers: what one dead worker costs, and what is refused before anything is written."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.jobs import Job
from experiments.contract.study import studies
from experiments.running.launchers import Launcher, Processes
from experiments.running.runner import perform_all


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
    monkeypatch.setattr("experiments.running.clusters._ANSWER", 1)
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
