"""Same configuration and seed, same bits; failures are recorded and stop nobody else."""

from pathlib import Path

import pytest

from experiments.configuration.jobs import Job
from experiments.contract.outcome import differences
from experiments.contract.study import studies
from experiments.running.launchers import Processes
from experiments.running.runner import perform_all
from experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [
    Job(PolynomialOrder(methods=["kfold"], folds=folds), seed=s) for s in (0, 1) for folds in (3, 9)
]


def test_serial_parallel_and_reversed_runs_give_the_same_bits(tmp_path: Path) -> None:
    def run(name: str, jobs: list[Job], workers: int) -> dict[str, object]:
        done = perform_all(jobs, tmp_path / name, Processes(workers))
        return {d.record["key"]: d.record.outcome for d in done}

    serial = run("serial", JOBS, 1)
    assert len(serial) == len(JOBS)
    for other in (run("parallel", JOBS, 2), run("reversed", JOBS[::-1], 1)):
        assert other.keys() == serial.keys()
        for key, outcome in serial.items():
            assert differences(outcome, other[key]) == []  # type: ignore[arg-type]


def test_what_is_done_is_found(tmp_path: Path) -> None:
    first = [done.computed for done in perform_all(JOBS, tmp_path)]
    again = [done.computed for done in perform_all(JOBS, tmp_path)]
    fresh = [done.computed for done in perform_all(JOBS, tmp_path, fresh=True)]
    assert (first, again, fresh) == ([True] * 4, [False] * 4, [True] * 4)


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_raises_is_recorded_and_stops_nobody(tmp_path: Path, workers: int) -> None:
    study = studies()["misbehaving"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(["well", "raise", "well"])]
    records = {done.index: done.record for done in perform_all(jobs, tmp_path, Processes(workers))}
    assert [records[i].finished for i in range(3)] == [True, False, True]
    assert records[1]["error"]["type"] == "ArithmeticError"
    assert "level 1" in records[1]["error"]["message"]
    assert "Traceback" in records[1]["error"]["traceback"]


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_that_dies_takes_only_its_own_run_with_it(tmp_path: Path) -> None:
    study = studies()["misbehaving"]
    ways = ["well", "die", "well", "well"]
    jobs = [Job(study(way=way, level=i)) for i, way in enumerate(ways)]
    records = {done.index: done.record for done in perform_all(jobs, tmp_path, Processes(2))}
    assert [records[i].finished for i in range(4)] == [True, False, True, True]
    assert records[1]["error"]["type"] == "WorkerDied"


@pytest.mark.usefixtures("misbehaving")
def test_strange_numbers_are_kept(tmp_path: Path) -> None:
    job = Job(studies()["misbehaving"](way="strange"))
    (done,) = perform_all([job], tmp_path)
    (found,) = perform_all([job], tmp_path)
    assert str(found.record.metrics) == "{'nan': nan, 'inf': inf, 'value': 1.0}"
    assert differences(done.record.outcome, found.record.outcome) == []
