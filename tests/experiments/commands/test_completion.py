"""`bythebook completion`: what may stand in place of the word that is being typed."""

from pathlib import Path

import pytest

from experiments.cli import main
from experiments.commands.completion import candidates
from experiments.records.record import Record

Capture = pytest.CaptureFixture[str]


def test_completion_offers_what_fits(capsys: Capture) -> None:
    assert candidates(["rep"]) == ["report", "reproduce"]
    assert candidates(["se"]) == ["server"]
    assert "experiment=fcml/fig-1.15" in candidates(["run", "experiment=fcml/fig-1.1"])
    assert candidates(["run", "study=polynomial_o"]) == ["study=polynomial_order"]
    assert candidates(["run", "study=polynomial_order", "study.ho"]) == ["study.holdout_from="]
    assert candidates(["run", "experiment=fcml/fig-1.15", "study.folds"]) == ["study.folds="]
    assert candidates(["run", "tracking=o"]) == ["tracking=off"]
    for shell in ("bash", "zsh"):
        assert main(["completion", shell]) == 0
        assert "bythebook complete" in capsys.readouterr().out


def test_flags_and_their_values() -> None:
    assert candidates(["figures", "--st"]) == ["--style"]
    assert candidates(["figures", "--style", ""]) == ["screen", "print"]
    assert candidates(["tables", "--format", "l"]) == ["latex"]
    assert candidates(["reproduce", "--jobs", ""]) == []
    assert candidates(["completion", ""]) == ["bash", "zsh"]
    assert "--dry-run" in candidates(["run", "--d"])


def test_selections() -> None:
    assert candidates(["list", "fcml/fig-1.1"])[:2] == ["fcml/fig-1.1", "fcml/fig-1.10"]
    assert {"fcml/1", "fcml/7"} < set(candidates(["reproduce", "fcml/"]))
    assert candidates(["report", "study:ridge"]) == ["study:ridge_path"]
    assert candidates(["runs", "verdict:by"]) == ["verdict:by-construction"]
    assert candidates(["runs", "ver"]) == ["verdict:"]
    assert candidates(["ui", "ridge"]) == ["ridge_path"]
    assert candidates(["nothing", "x"]) == []


def test_recorded_runs_and_sweeps(outputs: Path, recorded: Record) -> None:
    folder = outputs / "sweeps" / "sweep-abc"
    folder.mkdir(parents=True)
    (folder / "sweep.json").write_text("{}")
    assert candidates(["show", "sweep:"]) == ["sweep:sweep-abc"]
    assert candidates(["verify", recorded.id[:3]]) == [recorded.id]
    assert candidates(["figures", "run:"]) == [f"run:{recorded.id}"]
    metrics = candidates(["run", "fcml/fig-1.15", "metric=loo"])
    assert {"metric=loo_best_order", "metric=loo_loss"} <= set(metrics)


def test_data_sets_and_knobs() -> None:
    found = candidates(["run", "study=polynomial_order", "study.data=olympics"])
    assert found == ["study.data=olympics-100m-men", "study.data=olympics-100m-women"]
    assert candidates(["run", "fcml/fig-1.15", "study.holdout"]) == ["study.holdout_from="]
    assert "fcml/fig-1.15" in candidates(["run", "fcml/fig-1.15"])
