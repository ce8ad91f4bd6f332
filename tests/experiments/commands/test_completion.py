"""`bythebook completion`: what may stand in place of the word that is being typed."""

import pytest

from experiments.cli import main
from experiments.commands.completion import candidates

Capture = pytest.CaptureFixture[str]


def test_completion_offers_what_fits(capsys: Capture) -> None:
    assert candidates(["re"]) == ["report", "reproduce"]
    assert candidates(["se"]) == ["server"]
    assert "experiment=fcml/fig-1.15" in candidates(["run", "experiment=fcml/fig-1.1"])
    assert candidates(["run", "study=polynomial_o"]) == ["study=polynomial_order"]
    assert candidates(["run", "study=polynomial_order", "study.ho"]) == ["study.holdout_from="]
    assert candidates(["run", "experiment=fcml/fig-1.15", "study.folds"]) == ["study.folds="]
    assert candidates(["run", "tracking=o"]) == ["tracking=off"]
    for shell in ("bash", "zsh"):
        assert main(["completion", shell]) == 0
        assert "bythebook complete" in capsys.readouterr().out
