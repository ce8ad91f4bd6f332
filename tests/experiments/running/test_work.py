"""One worker's share: a job into a record, the same bits each time, failures recorded."""

from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from experiments.configuration.jobs import Job
from experiments.contract.outcome import differences
from experiments.contract.study import studies
from experiments.running import work
from experiments.running.provenance import environment
from experiments.running.work import Order, compute, one_thread, perform, run_chunk
from experiments.studies.classification.logistic_regression import LogisticRegression
from experiments.studies.regression.polynomial_order import PolynomialOrder


def test_the_seed_matters() -> None:
    a, b = (compute(Job(PolynomialOrder(methods=["kfold"]), seed=seed)).outcome for seed in (0, 1))
    assert differences(a, b) != []


def test_chance_is_noticed_by_the_stream_it_moves() -> None:
    methods = {"kfold": True, "loo": False}
    for method, chance in methods.items():
        assert compute(Job(PolynomialOrder(methods=[method]))).chance is chance


def test_the_seed_draws_the_stand_in_too() -> None:
    """Without the authors' file a result has chance in it, even if its study draws nothing."""
    study = LogisticRegression(data="fcml-logistic")
    first, second = (Job(study, seed) for seed in (0, 1))
    assert first.key != second.key
    assert first.data["fcml-logistic"]["sha256"] != second.data["fcml-logistic"]["sha256"]
    assert compute(first).chance


def test_the_same_job_gives_the_same_bits() -> None:
    job = Job(PolynomialOrder(methods=["kfold"]), seed=7)
    assert differences(compute(job).outcome, compute(job).outcome) == []


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize(
    ("way", "error"),
    [("raise", "ArithmeticError"), ("pickle", "TypeError"), ("hang", "TimeLimit")],
)
def test_what_goes_wrong_is_recorded(outputs: Path, way: str, error: str) -> None:
    job = Job(studies()["misbehaving"](way=way))
    seconds = 0.1 if way == "hang" else None
    record = perform(job, Order(outputs, environment(), seconds=seconds))
    assert not record.finished
    assert record["error"]["type"] == error
    assert "Traceback" in record["error"]["traceback"]
    assert record["provenance"]["seconds"] >= 0


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_that_is_asked_to_stop_does_so_between_two_runs(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [Job(studies()["misbehaving"](level=level)) for level in range(3)]
    whole = compute

    def ask(job: Job) -> object:
        work.STOPPING.set()
        return whole(job)

    monkeypatch.setattr(work, "compute", ask)
    try:
        assert len(run_chunk(jobs, Order(outputs, environment()))) == 1
    finally:
        work.STOPPING.clear()


def test_blas_has_one_thread_inside_and_its_own_again_outside() -> None:
    before = [pool["num_threads"] for pool in threadpool_info()]
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before
