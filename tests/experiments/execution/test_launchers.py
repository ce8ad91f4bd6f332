"""Launchers: limits and crashes of workers, and errors before any file is written."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.job import Job
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.launchers import Launcher, LocalLauncher
from bythebook.experiments.execution.runner import run_jobs


@pytest.mark.usefixtures("outputs")
def test_a_launcher_without_an_address_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["run", "-m", "study=polynomial_order", "seed=0,1", "tracking=off", "launcher=dask"]
    assert main(sweep) == 2
    assert "launcher.address=" in capsys.readouterr().err


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("launcher", [LocalLauncher(1), LocalLauncher(2)])
def test_a_run_is_stopped_at_its_time_limit(outputs: Path, launcher: Launcher) -> None:
    study = studies()["misbehaving"]
    jobs = [Job(study(seconds=seconds)) for seconds in (60.0, 0.0)]
    done = {d.index: d.record for d in run_jobs(jobs, outputs, launcher, timeout=1.0)}
    assert [done[i].finished for i in range(2)] == [False, True]
    assert done[0]["error"]["type"] == "TimeLimitExceeded"
    assert "limits.timeout" in done[0]["error"]["message"]


@pytest.mark.usefixtures("misbehaving")
def test_a_run_is_stopped_at_its_memory_limit(outputs: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the limit is enforced on Linux only")
    study = studies()["misbehaving"]
    jobs = [Job(study(way="eat", level=level)) for level in (4, 0)]  # 4 GiB and nothing
    done = {d.index: d.record for d in run_jobs(jobs, outputs, LocalLauncher(2), memory_gb=1.0)}
    assert [done[i].finished for i in range(2)] == [False, True]
    assert done[0]["error"]["type"].endswith("MemoryError")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["launcher=slurm"], "there is no Slurm here"),
        (["launcher=dask", "launcher.address=nonsense://x"], "launcher.address=<tcp://host:port"),
        (["launcher=dask", "launcher.address=tcp://127.0.0.1:1"], "no Dask scheduler answers"),
        (
            ["launcher=slurm", "launcher.cluster=local", "+launcher.options.slurm_nonsense=1"],
            "Unknown argument 'nonsense'",
        ),
    ],
)
def test_an_unavailable_launcher_is_reported_before_any_file_is_written(
    words: list[str],
    message: str,
    outputs: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("bythebook.experiments.execution.clusters._TIMEOUT_S", 1)
    assert message in refused("run", "-m", "study=polynomial_order", "seed=0,1", *words)
    assert not list(outputs.iterdir())


@pytest.mark.usefixtures("misbehaving")
def test_a_pool_that_breaks_affects_the_run_that_broke_it_only(outputs: Path) -> None:
    """A worker dies while a second chunk is queued and a third is being submitted."""
    study = studies()["misbehaving"]
    ways = ["well", "die", *["well"] * 10]
    jobs = [Job(study(way=way), seed=seed) for seed, way in enumerate(ways)]
    found = {
        d.index: d.record.finished for d in run_jobs(jobs, outputs, LocalLauncher(2, prefetch=3))
    }
    assert found == {index: way == "well" for index, way in enumerate(ways)}
