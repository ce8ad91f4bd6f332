"""`bythebook equations`: a table or JSON of the equations, and the exit code."""

import json
from collections.abc import Callable

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core import equations

Capture = pytest.CaptureFixture[str]


def test_a_table_counts_the_verdicts(capsys: Capture) -> None:
    assert main(["equations", "prml/10.2.1", "--errata"]) == 0
    text = capsys.readouterr().out
    assert "prml.expected_mixing" in text
    assert "1 equations: 1 erratum; evaluated now in 20 random cases each" in text


def test_json_has_every_field(capsys: Capture) -> None:
    assert main(["equations", "prml:10.69", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["book"] for row in rows} == {"prml"}
    assert {"name", "number", "verdict", "gap", "corrected_gap", "cases", "results"} <= set(rows[0])


def test_an_unexpected_verdict_is_exit_code_1(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equations.Equation, "verdict", lambda *_: "differs")
    assert main(["equations", "prml.expected_mixing"]) == 1
    assert "prml.expected_mixing: differs, expected erratum" in capsys.readouterr().err


def test_an_unknown_selection_is_explained(refused: Callable[..., str]) -> None:
    assert "there is no equation 'prml/99'; allowed: <book>" in refused("equations", "prml/99")
