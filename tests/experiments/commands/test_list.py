"""`bythebook list`: every experiment, and what came of its last run."""

import json
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration import catalogue

Capture = pytest.CaptureFixture[str]


def test_list_shows_every_experiment_and_its_last_verdict(outputs: Path, capsys: Capture) -> None:
    assert main(["list", "--json"]) == 0
    before = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(before) == catalogue.names()
    assert before["fcml/fig-1.15"]["last"] is None
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    capsys.readouterr()
    assert main(["list", "fcml", "--json"]) == 0
    after = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert after["fcml/fig-1.15"]["last"]["reproduced"] >= 1
    assert after["fcml/fig-1.15"]["study"] == "polynomial_order"
    assert main(["list"]) == 0
    assert "Figure 1.15" in capsys.readouterr().out
