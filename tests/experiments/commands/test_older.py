"""Runs of an older format: told about in a line, and left alone."""

from pathlib import Path

import pytest

from experiments.cli import main

Capture = pytest.CaptureFixture[str]


def test_runs_of_an_older_format_are_left_alone(outputs: Path, capsys: Capture) -> None:
    old = outputs / "runs" / "fcml" / "fig-1.15" / "0123456789abcdef-1"
    old.mkdir(parents=True)
    (old / "run.json").write_text('{\n"format": 1,\n"id": "0123456789abcdef-1"\n}\n')
    line = f"bythebook: 1 runs of an older format are left alone in {outputs / 'runs'}\n"
    for command in (["reproduce", "--jobs", "1"], ["report"]):
        assert main([*command, "fcml/fig-1.15"]) == 0
        assert capsys.readouterr().err.count(line) == 1
    for command in (["sync"], ["list", "fcml"], ["show", "fcml/fig-1.15"]):
        assert main(command) == 0
    assert (old / "run.json").exists()
