"""The commands: each has a module, a help that fits a screen, and an example."""

import importlib

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.cli.parser import build_parser

COMMANDS = [name for name in build_parser()[1] if name != "run"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_has_an_example(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    output = capsys.readouterr().out
    assert stopped.value.code == 0
    assert len(output.splitlines()) <= 40
    assert "example: " in output
    assert callable(importlib.import_module(f"bythebook.experiments.cli.{command}").main)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_accepts_outputs(command: str) -> None:
    assert "--outputs" in build_parser()[1][command].format_usage()
