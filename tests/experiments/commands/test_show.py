"""`bythebook show`: what the book says of a result, its knobs, its last verdicts."""

import json
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.configuration.build import experiment_job
from experiments.running.runner import perform_all

Capture = pytest.CaptureFixture[str]


def test_show_tells_what_the_book_says_and_what_came_of_it(outputs: Path, capsys: Capture) -> None:
    assert main(["show", "fcml/fig-1.15"]) == 0
    text = capsys.readouterr().out
    assert "not run yet" in text
    assert "bythebook run experiment=fcml/fig-1.15" in text
    assert "orders" in text
    assert main(["run", "experiment=fcml/fig-1.15", "tracking=off", "figures=false"]) == 0
    capsys.readouterr()
    assert main(["show", "fcml/fig-1.15", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["last"]["verdicts"][0]["verdict"] == "reproduced"
    assert {"knob", "value", "allowed", "doc"} <= shown["knobs"][0].keys()


def test_it_says_whether_chance_had_a_part(outputs: Path, capsys: Capture) -> None:
    assert main(["show", "fcml/fig-1.15"]) == 0
    assert "chance" not in capsys.readouterr().out  # nobody has run it
    assert list(perform_all([experiment_job("fcml/fig-1.15")], outputs))
    assert main(["show", "fcml/fig-1.15"]) == 0
    assert "no chance in it" in capsys.readouterr().out
