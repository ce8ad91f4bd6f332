"""`bythebook report`: the site from what is recorded, and what is out of date."""

import json
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.contract.study import studies
from experiments.records import seal
from experiments.records.record import Record

Capture = pytest.CaptureFixture[str]


def test_the_site_comes_from_the_record_alone(
    outputs: Path, recorded: Record, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies()[recorded.study], "run", lambda *_: pytest.fail("it computed"))
    assert main(["report", "fcml/fig-1.15"]) == 0
    told = capsys.readouterr()
    assert told.out == f"report: {outputs / 'report' / 'index.html'}\n"
    assert told.err == ""
    claims = json.loads((outputs / "report" / "results.json").read_text())
    assert [claim["verdict"] for claim in claims] == [v["verdict"] for v in recorded.verdicts]


def test_a_run_of_other_knobs_or_other_code_is_out_of_date(
    outputs: Path, recorded: Record, capsys: Capture
) -> None:
    path = recorded.folder / "run.json"
    others = (
        {"science": {**recorded["science"], "seed": 1}},
        {"provenance": {**recorded["provenance"], "code": "feed"}},
    )
    for other in others:
        path.write_text(seal.sealed({**recorded.content, **other}))
        assert main(["report", "fcml/fig-1.15"]) == 0
        assert "1 runs are older than their experiment's file or code" in capsys.readouterr().err
        page = outputs / "report" / "experiments" / "fcml" / "fig-1.15.html"
        assert page.exists()


def test_an_empty_folder_gives_a_site_and_a_line(outputs: Path, capsys: Capture) -> None:
    assert main(["report", "fcml/fig-1.15"]) == 0
    assert "nothing is recorded yet" in capsys.readouterr().err
    assert (outputs / "report" / "index.html").exists()
