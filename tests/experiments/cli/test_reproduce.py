"""`bythebook reproduce`: run missing results, evaluate claims, exit code of a wrong verdict."""

import json
import sqlite3
from pathlib import Path

import pytest

from bythebook.experiments.cli import reproduce
from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job

Capture = pytest.CaptureFixture[str]


def test_reproduce_prints_one_record_per_claim_and_uses_cached_runs(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["reproduce", "fcml/fig-1.15", "fcml/fig-1.12", "--jobs", "1", "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)
    needed = {"experiment", "claim", "printed", "computed", "verdict", "data_grade"}
    assert all(needed <= claim.keys() for claim in claims)
    assert {claim["experiment"] for claim in claims} == {"fcml/fig-1.15", "fcml/fig-1.12"}
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 0
    assert "0 computed, 1 cached" in capsys.readouterr().out
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1", "--force"]) == 0
    assert len(list((outputs / "runs" / "fcml" / "fig-1.15").iterdir())) == 2


def test_reproduce_fails_at_an_unexpected_verdict(
    outputs: Path, tracked: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from bythebook.experiments.cli import reproduce
    from bythebook.experiments.config.job import PublishedResult
    from bythebook.experiments.config.validation import load_job
    from bythebook.experiments.core.claims import Claim
    from bythebook.experiments.store import record

    job = load_job("fcml/fig-1.15")
    printed = next(claim for claim in job.claims if claim.printed == "3")
    wrong = type(job)(
        job.study,
        published=PublishedResult(job.source, (Claim(printed.says, printed.value, printed="4"),)),
        experiment=job.experiment,
        canonical=True,
    )
    monkeypatch.setattr(reproduce, "load_job", lambda *_: wrong)
    monkeypatch.setattr(record, "load_job", lambda *_: wrong)
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 1
    assert "differs, expected reproduced (printed 4, computed 3" in capsys.readouterr().err


def test_rewording_computes_nothing(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key of a run excludes claims, texts and figures; MLflow gets the new verdict."""
    from bythebook.experiments.config import catalogue, validation
    from bythebook.experiments.figures.regression import polynomial_order

    names = ["fcml/fig-1.15", "--jobs", "1"]
    assert main(["reproduce", *names]) == 0
    read = catalogue.load_experiment

    def load_reworded(name: str) -> catalogue.ExperimentFile:
        entry = read(name)
        entry.body["source"]["title"] = "another title"
        first, *others = entry.body["claims"]
        first = {**first, "says": "in other words", "within": 0.5, "because": "of a test"}
        entry.body["claims"] = [first, *others]
        return entry

    monkeypatch.setattr(catalogue, "load_experiment", load_reworded)
    monkeypatch.setitem(polynomial_order.TITLES, "loo_loss", "another title")
    validation._load_cached.cache_clear()
    try:
        capsys.readouterr()
        assert main(["reproduce", *names]) == 0
        assert "0 computed, 1 cached" in capsys.readouterr().out
        assert main(["show", "fcml/fig-1.15"]) == 0
        assert "in other words" in capsys.readouterr().out
    finally:
        validation._load_cached.cache_clear()
    with sqlite3.connect(outputs / "mlflow.db") as database:
        rows = database.execute("SELECT value FROM tags WHERE key = 'mlflow.note.content'")
        (note,) = [text for (text,) in rows if "another title" in text]
    assert "in other words" in note


def test_jobs_are_interleaved_by_study() -> None:
    names = ["fcml/fig-1.15", "fcml/fig-1.9", "fcml/fig-1.16", "fcml/fig-1.8"]
    jobs = [load_job(name, None) for name in names]
    kinds = [type(job.study).__name__ for job in jobs]
    order = reproduce._interleave_by_study(jobs)
    assert sorted(order) == [0, 1, 2, 3]
    n_kinds = len(set(kinds))
    assert n_kinds < len(kinds)  # two jobs share a study
    assert {kinds[index] for index in order[:n_kinds]} == set(kinds)
