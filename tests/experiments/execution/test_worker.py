"""Computation of jobs: reproducible outcomes, recorded failures, one thread."""

import warnings
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.job import Job
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.core.study import studies
from bythebook.experiments.execution import worker
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import (
    RunOptions,
    compute,
    run_and_record,
    run_chunk,
    single_threaded,
)
from bythebook.experiments.studies.classification.logistic_regression import LogisticRegression
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder


def test_outcomes_depend_on_the_seed() -> None:
    a, b = (compute(Job(PolynomialOrder(folds=[5]), seed=seed)).outcome for seed in (0, 1))
    assert diff_outcomes(a, b) != []


def test_a_study_that_draws_random_numbers_is_stochastic() -> None:
    assert compute(Job(PolynomialOrder(folds=[5]))).is_stochastic
    assert not compute(Job(PolynomialOrder())).is_stochastic


def test_stand_in_data_depend_on_the_seed() -> None:
    """Without the authors' file a result is stochastic, even if its study draws no numbers."""
    study = LogisticRegression(data="fcml-logistic")
    first, second = (Job(study, seed) for seed in (0, 1))
    assert first.key != second.key
    assert first.data["fcml-logistic"]["sha256"] != second.data["fcml-logistic"]["sha256"]
    assert compute(first).is_stochastic


def test_equal_jobs_give_identical_outcomes() -> None:
    job = Job(PolynomialOrder(folds=[5]), seed=7)
    assert diff_outcomes(compute(job).outcome, compute(job).outcome) == []


@pytest.mark.usefixtures("misbehaving")
def test_fits_that_did_not_converge_are_recorded_and_shown(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = (
        "EM stopped at the limit of 7 iterations in 5 fits, before it met the tolerance 1e-06"
    )
    job = Job(studies()["misbehaving"](way="stop", level=7))
    options = RunOptions(outputs, collect_environment())
    (line,) = run_and_record(job, options).not_converged
    assert line.startswith(sentence)
    assert run_and_record(Job(PolynomialOrder()), options).not_converged == []
    capsys.readouterr()
    assert main(["run", "study=misbehaving", "study.way=stop", "study.level=7"]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_other_warnings_of_a_study_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: object) -> Outcome:
        warnings.warn("an overflow", RuntimeWarning, stacklevel=1)
        return Outcome()

    monkeypatch.setattr(PolynomialOrder, "compute", warn)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(Job(PolynomialOrder()))
    assert [str(warning.message) for warning in caught] == ["an overflow"]


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize(
    ("way", "error"),
    [("raise", "ArithmeticError"), ("pickle", "TypeError"), ("hang", "TimeLimitExceeded")],
)
def test_a_failure_is_recorded(outputs: Path, way: str, error: str) -> None:
    job = Job(studies()["misbehaving"](way=way))
    timeout = 0.1 if way == "hang" else None
    record = run_and_record(job, RunOptions(outputs, collect_environment(), timeout=timeout))
    assert not record.finished
    assert record["error"]["type"] == error
    assert "Traceback" in record["error"]["traceback"]
    assert record["provenance"]["seconds"] >= 0


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_stops_between_two_runs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [Job(studies()["misbehaving"](level=level)) for level in range(3)]
    compute_job = compute

    def compute_and_stop(job: Job) -> object:
        worker.STOP_REQUESTED.set()
        return compute_job(job)

    monkeypatch.setattr(worker, "compute", compute_and_stop)
    try:
        assert len(run_chunk(jobs, RunOptions(outputs, collect_environment()))) == 1
    finally:
        worker.STOP_REQUESTED.clear()


def test_blas_has_one_thread_in_the_block_only() -> None:
    before = [pool["num_threads"] for pool in threadpool_info()]
    with single_threaded():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before
