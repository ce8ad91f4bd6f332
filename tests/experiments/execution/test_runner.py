"""Runner: identical outcomes in any order and number of workers, and recorded failures."""

from pathlib import Path

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.outcome import diff_outcomes
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution.launchers import LocalLauncher
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [Job(PolynomialOrder(folds=[folds]), seed=s) for s in (0, 1) for folds in (3, 9)]


def test_serial_parallel_and_reversed_runs_give_identical_outcomes(tmp_path: Path) -> None:
    def run(name: str, jobs: list[Job], workers: int) -> dict[str, object]:
        done = run_jobs(jobs, tmp_path / name, LocalLauncher(workers))
        return {d.record["key"]: d.record.outcome for d in done}

    serial = run("serial", JOBS, 1)
    assert len(serial) == len(JOBS)
    for other in (run("parallel", JOBS, 2), run("reversed", JOBS[::-1], 1)):
        assert other.keys() == serial.keys()
        for key, outcome in serial.items():
            assert diff_outcomes(outcome, other[key]) == []  # type: ignore[arg-type]


def test_completed_runs_are_cached(tmp_path: Path) -> None:
    first = [done.computed for done in run_jobs(JOBS, tmp_path)]
    again = [done.computed for done in run_jobs(JOBS, tmp_path)]
    forced = [done.computed for done in run_jobs(JOBS, tmp_path, force=True)]
    assert (first, again, forced) == ([True] * 4, [False] * 4, [True] * 4)


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_raises_is_recorded_and_others_continue(tmp_path: Path, workers: int) -> None:
    study = studies()["misbehaving"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(["well", "raise", "well"])]
    records = {done.index: done.record for done in run_jobs(jobs, tmp_path, LocalLauncher(workers))}
    assert [records[i].finished for i in range(3)] == [True, False, True]
    assert records[1]["error"]["type"] == "ArithmeticError"
    assert "level 1" in records[1]["error"]["message"]
    assert "Traceback" in records[1]["error"]["traceback"]


@pytest.mark.usefixtures("misbehaving")
def test_a_killed_worker_affects_its_own_run_only(tmp_path: Path) -> None:
    study = studies()["misbehaving"]
    ways = ["well", "die", "well", "well"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(ways)]
    records = {done.index: done.record for done in run_jobs(jobs, tmp_path, LocalLauncher(2))}
    assert [records[i].finished for i in range(4)] == [True, False, True, True]
    assert records[1]["error"]["type"] == "WorkerDied"


@pytest.mark.usefixtures("misbehaving")
def test_special_floats_are_recorded(tmp_path: Path) -> None:
    job = Job(studies()["misbehaving"](way="strange"))
    (done,) = run_jobs([job], tmp_path)
    (cached,) = run_jobs([job], tmp_path)
    assert str(cached.record.metrics) == "{'nan': nan, 'inf': inf, 'value': 1.0}"
    assert diff_outcomes(done.record.outcome, cached.record.outcome) == []
