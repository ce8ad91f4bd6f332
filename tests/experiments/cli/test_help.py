"""`bythebook run --help`: usage on one screen, the syntax of overrides, a study."""

from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_help_fits_a_screen_and_names_further_help(outputs: Path, capsys: Capture) -> None:
    assert main(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 25
    assert "run --help <study>" in text
    assert main(["run", "--hydra-help"]) == 0
    assert "--config-dir" in capsys.readouterr().out
    assert main(["run", "--help", "polynomial_order"]) == 0
    text = capsys.readouterr().out
    assert "holdout_from" in text
    assert "loo_loss" in text  # a quantity
    assert "order (" in text  # with its axis
