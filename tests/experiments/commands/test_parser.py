"""What the commands take: every verb has a module, a help that fits a screen, and an example."""

import importlib

import pytest

from experiments.cli import main
from experiments.commands.parser import parser_and_verbs

VERBS = [name for name in parser_and_verbs()[1] if name != "run"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_screen_and_has_an_example(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--help"])
    told = capsys.readouterr().out
    assert stopped.value.code == 0
    assert len(told.splitlines()) <= 40
    assert "example: " in told
    assert callable(importlib.import_module(f"experiments.commands.{verb}").main)


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_takes_outputs(verb: str) -> None:
    assert "--outputs" in parser_and_verbs()[1][verb].format_usage()
