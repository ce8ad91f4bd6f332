"""`bythebook reproduce`: judge a selection, compute only what is missing, fail at a surprise."""

import json
import sqlite3
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.commands import reproduce
from experiments.configuration.build import experiment_job

Capture = pytest.CaptureFixture[str]


def test_reproduce_judges_finds_and_prints_one_record_a_claim(
    outputs: Path, tracked: object, capsys: Capture
) -> None:
    assert main(["reproduce", "fcml/fig-1.15", "fcml/fig-1.12", "--jobs", "1", "--json"]) == 0
    claims = json.loads(capsys.readouterr().out)
    needed = {"experiment", "claim", "printed", "computed", "verdict", "data_grade"}
    assert all(needed <= claim.keys() for claim in claims)
    assert {claim["experiment"] for claim in claims} == {"fcml/fig-1.15", "fcml/fig-1.12"}
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 0
    assert "0 computed now, 1 found" in capsys.readouterr().out
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1", "--fresh"]) == 0
    assert len(list((outputs / "runs" / "fcml" / "fig-1.15").iterdir())) == 2


def test_reproduce_fails_when_a_claim_surprises(
    outputs: Path, tracked: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from experiments.commands import reproduce
    from experiments.configuration.build import experiment_job
    from experiments.configuration.jobs import Printed
    from experiments.contract.claims import Claim
    from experiments.records import record

    job = experiment_job("fcml/fig-1.15")
    printed = next(claim for claim in job.claims if claim.printed == "3")
    wrong = type(job)(
        job.study,
        printed=Printed(job.source, (Claim(printed.says, printed.value, printed="4"),)),
        experiment=job.experiment,
        canonical=True,
    )
    monkeypatch.setattr(reproduce, "experiment_job", lambda *_: wrong)
    monkeypatch.setattr(record, "experiment_job", lambda *_: wrong)
    assert main(["reproduce", "fcml/fig-1.15", "--jobs", "1"]) == 1
    assert "differs, expected reproduced (printed 4, computed 3" in capsys.readouterr().err


def test_rewording_computes_nothing(
    outputs: Path, tracked: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims, words and drawing are no part of a run's key; MLflow is told the new verdict."""
    from experiments.configuration import build, catalogue
    from experiments.figures.regression import polynomial_order

    names = ["fcml/fig-1.15", "--jobs", "1"]
    assert main(["reproduce", *names]) == 0
    read = catalogue.read

    def reworded(name: str) -> catalogue.Entry:
        entry = read(name)
        entry.body["source"]["title"] = "another title"
        first, *others = entry.body["claims"]
        first = {**first, "says": "in other words", "within": 0.5, "because": "of a test"}
        entry.body["claims"] = [first, *others]
        return entry

    monkeypatch.setattr(catalogue, "read", reworded)
    monkeypatch.setattr(polynomial_order, "CHOOSING", ())  # no marker
    build._stated.cache_clear()
    try:
        capsys.readouterr()
        assert main(["reproduce", *names]) == 0
        assert "0 computed now, 1 found" in capsys.readouterr().out
        assert main(["show", "fcml/fig-1.15"]) == 0
        assert "in other words" in capsys.readouterr().out
    finally:
        build._stated.cache_clear()
    with sqlite3.connect(outputs / "mlflow.db") as database:
        ((note,),) = database.execute("SELECT value FROM tags WHERE key = 'mlflow.note.content'")
    assert "another title" in note
    assert "in other words" in note


def test_studies_take_turns() -> None:
    names = ["fcml/fig-1.15", "fcml/fig-1.9", "fcml/fig-1.16", "fcml/fig-1.8"]
    jobs = [experiment_job(name, None) for name in names]
    kinds = [type(job.study).__name__ for job in jobs]
    turns = reproduce._by_turns(jobs)
    assert sorted(turns) == [0, 1, 2, 3]
    firsts = len(set(kinds))
    assert firsts < len(kinds)  # or there would be nothing to see
    assert {kinds[index] for index in turns[:firsts]} == set(kinds)
