"""Sweeps in the terminal: the list, the means, tables and figures."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.cli import run
from bythebook.experiments.cli.main import main
from bythebook.experiments.sweeps.run import load_sweep

Capture = pytest.CaptureFixture[str]
WORDS = [
    "-m",
    "study=polynomial_order",
    "study.data=null",
    "study.curve=polynomial",
    "study.repetitions=5",
    "study.noise=0.1,0.3",
    "seed=0,1",
]


@pytest.fixture
def sweep(outputs: Path, capsys: Capture) -> str:
    assert run.main([*WORDS, "tracking=off"]) == 0
    output = capsys.readouterr().out
    (folder,) = (outputs / "sweeps").iterdir()
    assert "±" in output  # the means and the path of the figure
    assert str(folder / "sweep.png") in output
    return folder.name.removeprefix("sweep-")[:6]


def test_a_sweep_is_listed_and_shown(sweep: str, capsys: Capture) -> None:
    assert main(["list", "sweeps"]) == 0
    _, line = capsys.readouterr().out.splitlines()
    assert line.startswith(f"sweep-{sweep}")
    assert "4 of 4" in line
    assert main(["list", "sweeps", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["cells"], entry["done"], entry["over"]) == (4, 4, ["study.noise", "seed"])
    assert main(["show", f"sweep:{sweep}", "--metric", "mean(test_loss)"]) == 0
    output = capsys.readouterr().out
    assert "mean(test_loss)" in output
    assert "bythebook run -m study=polynomial_order" in output
    assert main(["show", f"sweep:{sweep}", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["means"]) == 2


def test_tables_and_figures(sweep: str, outputs: Path, capsys: Capture) -> None:
    assert main(["tables", f"sweep:{sweep}", "--format", "csv,md"]) == 0
    (folder,) = (outputs / "tables" / "sweeps").iterdir()
    assert {path.name for path in folder.iterdir()} == {
        "cells.csv",
        "cells.md",
        "means.csv",
        "means.md",
    }
    assert len(list(csv.DictReader((folder / "cells.csv").open()))) == 4
    assert not (outputs / "tables" / "fcml").exists()
    drawn = outputs / "figures" / "screen" / "sweeps" / folder.name
    assert main(["figures", f"sweep:{sweep}"]) == 0
    first = (drawn / "sweep.png").read_bytes()
    assert main(["figures", f"sweep:{sweep}", "--metric", "max(loo_loss)", "--cells"]) == 0
    assert (drawn / "sweep.png").read_bytes() != first
    assert len([path for path in drawn.iterdir() if path.is_dir()]) == 4
    capsys.readouterr()


def test_another_metric_redraws_and_a_misspelt_one_is_rejected(
    sweep: str, outputs: Path, capsys: Capture, refused: Callable[..., str]
) -> None:
    (folder,) = (outputs / "sweeps").iterdir()
    before = (folder / "sweep.png").read_bytes()
    assert run.main([*WORDS, "tracking=off", "metric=mean(test_loss)"]) == 0
    assert "0 computed, 4 cached" in capsys.readouterr().out
    assert load_sweep(folder)[0].metric == "mean(test_loss)"
    assert (folder / "sweep.png").read_bytes() != before
    assert "did you mean 'test_loss'?" in refused("run", *WORDS, "tracking=off", "metric=test_los")
    assert "an array" in refused("run", *WORDS, "tracking=off", "metric=test_loss")
    assert "--metric needs a sweep" in refused("figures", "fcml/fig-1.15", "--metric", "x")
    assert "no sweep 'zz'" in refused("show", "sweep:zz")


def test_the_message_for_a_sweep_without_a_scalar_metric(outputs: Path, capsys: Capture) -> None:
    words = ["run", "-m", "study=likelihood_surface", "seed=0,1", "tracking=off"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "the runs have no scalar metric; set metric=<expression>" in captured.err
    assert "2 runs: 2 computed" in captured.out
    assert main(["show", f"sweep:{next(outputs.glob('sweeps/*')).name}"]) == 0
