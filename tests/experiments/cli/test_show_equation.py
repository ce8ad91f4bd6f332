"""`bythebook show prml:10.69`: both formulas, both gaps, the source and the results."""

import json
from collections.abc import Callable

import pytest

from bythebook.experiments.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("word", ["prml:10.69", "prml.expected_mixing"])
def test_an_erratum_shows_both_forms(word: str, capsys: Capture) -> None:
    assert main(["show", word]) == 0
    text = capsys.readouterr().out
    assert "printed    E[π_k] = (α_k + N_k) / (K α₀ + N)" in text
    assert "corrected  E[π_k] = (α₀ + N_k) / (K α₀ + N)" in text
    assert "def expected_mixing(rng: Generator) -> Sides:" in text
    assert "verdict    erratum" in text


def test_json_has_the_source(capsys: Capture) -> None:
    assert main(["show", "prml.expected_mixing", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["source"].startswith("@equation(")


def test_an_unknown_number_is_explained(refused: Callable[..., str]) -> None:
    assert "there is no equation 'prml:99.9'" in refused("show", "prml:99.9")
