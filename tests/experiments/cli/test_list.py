"""`bythebook list`: all results with their last verdicts."""

import json
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config import catalogue

Capture = pytest.CaptureFixture[str]


def test_list_shows_all_results_and_their_last_verdicts(outputs: Path, capsys: Capture) -> None:
    assert main(["list", "--json"]) == 0
    before = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(before) == catalogue.experiment_names()
    assert before["fcml/fig-1.15"]["last"] is None
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    capsys.readouterr()
    assert main(["list", "fcml", "--json"]) == 0
    after = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert after["fcml/fig-1.15"]["last"]["reproduced"] >= 1
    assert after["fcml/fig-1.15"]["study"] == "polynomial_order"
    assert main(["list"]) == 0
    assert "Figure 1.15" in capsys.readouterr().out
