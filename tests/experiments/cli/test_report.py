"""`bythebook report`: the site from recorded runs, and runs that are out of date."""

import json
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core.study import studies
from bythebook.experiments.store import run_json
from bythebook.experiments.store.record import Record

Capture = pytest.CaptureFixture[str]


def test_the_site_is_written_from_the_record(
    outputs: Path, recorded: Record, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies()[recorded.study], "run", lambda *_: pytest.fail("it computed"))
    assert main(["report", "fcml/fig-1.15"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"report: {outputs / 'report' / 'index.html'}\n"
    assert captured.err == ""
    claims = json.loads((outputs / "report" / "results.json").read_text())
    assert [claim["verdict"] for claim in claims] == [v["verdict"] for v in recorded.verdicts]


def test_a_run_with_other_knobs_or_code_is_out_of_date(
    outputs: Path, recorded: Record, capsys: Capture
) -> None:
    path = recorded.folder / "run.json"
    others = (
        {"science": {**recorded["science"], "seed": 1}},
        {"provenance": {**recorded["provenance"], "code": "feed"}},
    )
    for other in others:
        path.write_text(run_json.add_checksum({**recorded.content, **other}))
        assert main(["report", "fcml/fig-1.15"]) == 0
        assert (
            "1 runs are older than the file or the code of their result" in capsys.readouterr().err
        )
        page = outputs / "report" / "experiments" / "fcml" / "fig-1.15.html"
        assert page.exists()


def test_an_empty_folder_gives_a_site_and_a_message(outputs: Path, capsys: Capture) -> None:
    assert main(["report", "fcml/fig-1.15"]) == 0
    assert "contains no runs of results" in capsys.readouterr().err
    assert (outputs / "report" / "index.html").exists()
