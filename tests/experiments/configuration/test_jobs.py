"""Jobs: what determines the numbers makes the key, and a record gives the job back."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job, Printed, Source, recorded_job
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.running.runner import perform_all
from experiments.studies.regression.polynomial_order import PolynomialOrder


@pytest.fixture
def job() -> Job:
    return Job(PolynomialOrder(orders=[1, 2, 3], curves=[1]))


def test_the_key_depends_on_configuration_code_and_data(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {
        job.key,
        replace(job, seed=1).key,
        Job(PolynomialOrder(orders=[1, 2])).key,
        Job(PolynomialOrder(orders=[1, 2, 3], data="olympics-100m-women")).key,
    }
    assert len(keys) == 4
    monkeypatch.setattr("experiments.configuration.jobs.code_digest", lambda _: "0" * 16)
    assert replace(job).key not in keys


def test_the_key_depends_on_nothing_that_the_book_says(job: Job) -> None:
    printed = Printed(Source("fcml", title="a title"), (Claim("a claim", holds="1 > 0"),))
    assert replace(job, printed=printed).key == job.key
    assert replace(job, experiment="fcml/fig-1.15").key != job.key  # two results are two runs


def test_a_record_rebuilds_its_job(tmp_path: Path) -> None:
    job = experiment_job("fcml/fig-1.15")
    (done,) = perform_all([job], tmp_path)
    rebuilt = recorded_job(done.record.content)
    assert rebuilt.science == job.science
    assert rebuilt.key == job.key


@pytest.mark.parametrize("name", catalogue.names()[::20])
def test_what_the_book_says_reads_back_from_the_record(name: str) -> None:
    printed = experiment_job(name).printed
    assert Printed.recorded(printed.content) == printed
    assert not [value for value in printed.content["source"].values() if value in ("", None, [])]


def test_a_record_of_a_study_that_is_gone_or_changed_is_refused(job: Job) -> None:
    record = {"id": "feed-1", "science": {**job.science, "study": "gone"}}
    with pytest.raises(BadInput, match="run feed-1 is of study 'gone', which is gone"):
        recorded_job(record)
    record["science"] = {**job.science, "knobs": {"lost": 1}}
    with pytest.raises(BadInput, match=r"no longer takes its knobs: .*lost"):
        recorded_job(record)


def test_the_grade_is_the_weakest(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def using(*grades: str) -> str:
        data = {str(i): {"grade": grade} for i, grade in enumerate(grades)}
        monkeypatch.setattr(Job, "data", data)
        return job.grade

    assert using() == using("book") == "book"
    assert using("book", "original") == "original"
    assert using("stand-in", "book", "original") == "stand-in"
    invented = replace(job, printed=Printed(Source(grade="stand-in")))
    monkeypatch.setattr(Job, "data", {})
    assert invented.grade == "stand-in"
