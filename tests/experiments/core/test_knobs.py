"""Knobs with nested lists, and messages about their values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config import catalogue, validation
from bythebook.experiments.core.knobs import knob, problems
from bythebook.experiments.store.run_reader import read_run

pytestmark = pytest.mark.usefixtures("misbehaving")
Capture = pytest.CaptureFixture[str]
TABLE = ["run", "study=misbehaving", "tracking=off", "figures=false"]


def recorded(outputs: Path) -> list[Any]:
    runs = sorted((outputs / "runs").rglob("run.json"))
    return [read_run(path.parent)["science"]["knobs"]["grid"] for path in runs]


@pytest.mark.parametrize("typed", ["[[1,0],[0,1]]", "[[1,0.0],[0e0,1.0]]"])
def test_integers_are_accepted_for_floats(typed: str, outputs: Path) -> None:
    """Equal parameters have equal keys, so the second command computes nothing."""
    assert main([*TABLE, "study.grid=[[1.0,0.0],[0.0,1.0]]"]) == 0
    assert main([*TABLE, f"study.grid={typed}"]) == 0
    assert str(recorded(outputs)) == "[[[1.0, 0.0], [0.0, 1.0]]]"


def test_integers_are_accepted_for_floats_in_a_sweep(outputs: Path, capsys: Capture) -> None:
    grid = "study.grid=[[1,0],[0,1]],[[1.0,0.0],[0.0,1.0]]"
    assert main(["run", "-m", *TABLE[1:], grid, "--dry-run"]) == 0
    keys = [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:3]]
    assert keys[0] == keys[1]
    assert main(["run", "-m", *TABLE[1:], f"{grid},[[true,0],[0,1]]"]) == 2
    assert "[[true,0],[0,1]]: true is not allowed" in capsys.readouterr().err


def test_integers_are_accepted_for_floats_in_a_file(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "experiment" / "mine" / "table.yaml"
    file.parent.mkdir(parents=True)
    text = "# @package _global_\ndefaults:\n  - override /study: misbehaving\n"
    file.write_text(text + "study: {grid: [[1, 0], [0, 1]]}\nsource: {book: fcml}\n")
    own = ["--config-dir", str(tmp_path), "experiment=mine/table", "tracking=off", "figures=false"]
    assert main(["run", *own]) == 0
    assert str(recorded(outputs)) == "[[[1.0, 0.0], [0.0, 1.0]]]"
    monkeypatch.setattr(catalogue, "CONF_DIR", tmp_path)
    monkeypatch.setattr(catalogue, "experiment_names", lambda: ["mine/table"])
    job = validation._load_cached.__wrapped__("mine/table")
    assert str(job.config["knobs"]["grid"]) == "[[1.0, 0.0], [0.0, 1.0]]"


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("[[true,0],[0,1]]", "[[true,0],[0,1]]: true is not allowed"),
        ("[[1,0],[a,1]]", '[[1,0],["a",1]]: a is not allowed'),
        ("[[1,null],[0,1]]", "[[1,null],[0,1]]: null is not allowed"),
        ("[1,0]", "[1,0]: 1 is not allowed"),
        ("[[1,0],[[0],1]]", "[[1,0],[[0],1]]: [0] is not allowed"),
        ("[[1,0],[nan,1]]", "[[1.0,0.0],[nan,1.0]]: nan is not allowed"),
    ],
)
def test_a_value_of_another_type_is_named(
    typed: str, line: str, outputs: Path, capsys: Capture
) -> None:
    assert main([*TABLE, f"study.grid={typed}"]) == 2
    message = capsys.readouterr().err
    assert message == f"bythebook: study.grid={line}; allowed: list[list[float]]\n"
    assert not list(outputs.iterdir())


def test_lists_in_mappings_are_nested_too(outputs: Path, capsys: Capture) -> None:
    run, plans = [*TABLE, "--dry-run"], set()
    for values in ("[1,2]", "[1.0,2.0]"):
        assert main([*run, f"+study.places={{a:{values}}}"]) == 0
        plans.add(capsys.readouterr().out)
    assert len(plans) == 1
    assert main([*run, "+study.places={a:[1,true]}"]) == 2
    assert "true is not allowed; allowed: dict[str, list[float]]" in capsys.readouterr().err


def test_a_knob_may_require_data_of_a_kind() -> None:
    @dataclass
    class Example:
        any_table: str = knob("newsgroups", "a table", dataset=True)
        curve: str = knob("nile", "input and target", dataset="regression")
        page: str = knob("mlapp-darwin", "a text", dataset="text")

    assert not list(problems(Example()))
    (line,) = problems(Example(curve="newsgroups"))
    assert line.startswith(
        "study.curve=newsgroups: newsgroups is not allowed; allowed: str, one of"
    )
    assert "olympics-100m-men" in line
    assert "mlapp-darwin" not in line
    assert len(list(problems(Example(any_table="mlapp-darwin", page="nile")))) == 2
