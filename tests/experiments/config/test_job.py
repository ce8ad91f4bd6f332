"""Jobs: the key depends on all that determines the numbers, and a record rebuilds its job."""

from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.job import Job, PublishedResult, Source, job_from_record
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder


@pytest.fixture
def job() -> Job:
    return Job(PolynomialOrder(orders=[1, 2, 3]))


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
    monkeypatch.setattr("bythebook.experiments.config.job.study_code_hash", lambda _: "0" * 16)
    assert replace(job).key not in keys


def test_the_key_does_not_depend_on_source_and_claims(job: Job) -> None:
    published = PublishedResult(Source("fcml", title="a title"), (Claim("a claim", holds="1 > 0"),))
    assert replace(job, published=published).key == job.key
    assert replace(job, published=PublishedResult(figures={"fits": [1, 8]})).key == job.key
    assert replace(job, experiment="fcml/fig-1.15").key != job.key  # two results are two runs


def test_a_record_rebuilds_its_job(tmp_path: Path) -> None:
    job = load_job("fcml/fig-1.15")
    (done,) = run_jobs([job], tmp_path)
    rebuilt = job_from_record(done.record.content)
    assert rebuilt.config == job.config
    assert rebuilt.key == job.key


@pytest.mark.parametrize("name", catalogue.experiment_names()[::20])
def test_the_published_result_is_restored_from_the_record(name: str) -> None:
    published = load_job(name).published
    assert PublishedResult.from_record(published.content) == published
    drawn = replace(published, figures={"fits": [1, 8], "losses": []})
    assert PublishedResult.from_record(drawn.content) == drawn
    assert not [value for value in published.content["source"].values() if value in ("", None, [])]


def test_a_record_of_a_removed_or_changed_study_is_refused(job: Job) -> None:
    record = {"id": "feed-1", "science": {**job.config, "study": "removed"}}
    with pytest.raises(InputError, match="run feed-1: study 'removed' no longer exists"):
        job_from_record(record)
    record["science"] = {**job.config, "knobs": {"lost": 1}}
    with pytest.raises(InputError, match=r"no longer has these parameters: .*lost"):
        job_from_record(record)


def test_the_grade_is_the_weakest(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def using(*grades: str) -> str:
        data = {str(i): {"grade": grade} for i, grade in enumerate(grades)}
        monkeypatch.setattr(Job, "data", data)
        return job.data_grade

    assert using() == using("book") == "book"
    assert using("book", "original") == "original"
    assert using("stand-in", "book", "original") == "stand-in"
    invented = replace(job, published=PublishedResult(Source(grade="stand-in")))
    monkeypatch.setattr(Job, "data", {})
    assert invented.data_grade == "stand-in"
