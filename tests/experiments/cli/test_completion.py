"""`bythebook completion`: the completions of the last word of a command line."""

from pathlib import Path

import pytest

from bythebook.experiments.cli.completion import completions
from bythebook.experiments.cli.main import main
from bythebook.experiments.store.record import Record

Capture = pytest.CaptureFixture[str]


def test_commands_settings_and_scripts(capsys: Capture) -> None:
    assert completions(["rep"]) == ["report", "reproduce"]
    assert "experiment=fcml/fig-1.15" in completions(["run", "experiment=fcml/fig-1.1"])
    assert completions(["run", "study=polynomial_o"]) == ["study=polynomial_order"]
    assert completions(["run", "study=polynomial_order", "study.ho"]) == ["study.holdout_from="]
    assert completions(["run", "experiment=fcml/fig-1.15", "study.folds"]) == ["study.folds="]
    assert completions(["run", "tracking=o"]) == ["tracking=off"]
    for shell in ("bash", "zsh"):
        assert main(["completion", shell]) == 0
        assert "bythebook complete" in capsys.readouterr().out


def test_flags_and_their_values() -> None:
    assert completions(["figures", "--st"]) == ["--style"]
    assert completions(["figures", "--style", ""]) == ["screen", "print"]
    assert completions(["tables", "--format", "l"]) == ["latex"]
    assert completions(["reproduce", "--jobs", ""]) == []
    assert completions(["completion", ""]) == ["bash", "zsh"]
    assert "--dry-run" in completions(["run", "--d"])


def test_selections() -> None:
    assert completions(["list", "fcml/fig-1.1"])[:2] == ["fcml/fig-1.1", "fcml/fig-1.10"]
    assert {"fcml/1", "fcml/7"} < set(completions(["reproduce", "fcml/"]))
    assert completions(["report", "study:ridge"]) == ["study:ridge_path"]
    assert completions(["runs", "verdict:by"]) == ["verdict:by-construction", "verdict:by-reading"]
    assert completions(["runs", "ver"]) == ["verdict:"]
    assert completions(["ui", "ridge"]) == ["ridge_path"]
    assert completions(["nothing", "x"]) == []


def test_recorded_runs_and_sweeps(outputs: Path, recorded: Record) -> None:
    folder = outputs / "sweeps" / "sweep-abc"
    folder.mkdir(parents=True)
    (folder / "sweep.json").write_text("{}")
    assert completions(["show", "sweep:"]) == ["sweep:sweep-abc"]
    assert completions(["verify", recorded.id[:3]]) == [recorded.id]
    assert completions(["figures", "run:"]) == [f"run:{recorded.id}"]
    metrics = completions(["run", "fcml/fig-1.15", "metric=loo"])
    assert {"metric=loo_best_order", "metric=loo_loss"} <= set(metrics)


def test_data_sets_and_knobs() -> None:
    found = completions(["run", "study=polynomial_order", "study.data=olympics"])
    assert found == ["study.data=olympics-100m-men", "study.data=olympics-100m-women"]
    assert completions(["run", "fcml/fig-1.15", "study.holdout"]) == ["study.holdout_from="]
    assert "fcml/fig-1.15" in completions(["run", "fcml/fig-1.15"])
