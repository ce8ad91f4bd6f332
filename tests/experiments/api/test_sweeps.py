"""`sweep`: the same id, tables and MLflow runs as from the command line, and `Sweep`."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bythebook import InputError, sweep
from bythebook.experiments.api.sweeps import Sweep
from bythebook.experiments.cli.main import main

ReadAll = Callable[[Path], dict[str, Any]]
TYPED = [
    "study=polynomial_order",
    "study.data=null",
    "study.curve=polynomial",
    "study.repetitions=20",
    "study.noise=0.1,0.3",
    "seed=range(0,4)",
]
KNOBS: dict[str, Any] = {
    "data": None,
    "curve": "polynomial",
    "repetitions": 20,
    "noise": [0.1, 0.3],
    "seed": range(4),
}


def test_the_call_and_the_command_line_give_the_same_sweep(
    folders: tuple[Path, Path], read_all: ReadAll
) -> None:
    assert main(["run", "-m", *TYPED, "jobs=2", f"outputs={folders[0]}"]) == 0
    called = sweep("polynomial_order", **KNOBS, jobs=2, outputs=folders[1])
    from_command, from_call = map(read_all, folders)
    typed_words = [*TYPED, "jobs=2", f"outputs={folders[0]}"]
    for entry in from_command["mlflow"]:  # without the outputs folder
        entry[3] = [(k, v.replace(f" {typed_words[-1]}", "")) for k, v in entry[3]]
    assert len(from_call["records"]) == 8
    assert len(from_call["mlflow"]) == 9
    assert from_call == from_command
    plans = [json.loads((p / "sweeps" / called.id / "sweep.json").read_text()) for p in folders]
    for name in ("id", "keys", "swept", "runs", "title", "study", "metric"):
        assert plans[1][name] == plans[0][name]
    assert plans[1]["overrides"] == [*TYPED, "jobs=2"]

    again = sweep(
        "polynomial_order", **KNOBS, outputs=folders[1]
    )  # the number of jobs is not part of the id
    assert (again.id, called.computed, again.computed) == (called.id, 8, 0)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    counts: list[tuple[int, int]] = []
    folder = tmp_path_factory.mktemp("sweep")
    made = sweep(
        "polynomial_order",
        **KNOBS,
        outputs=folder,
        tracking="off",
        progress=lambda *pair: counts.append(pair),
    )
    assert counts == [(number, 8) for number in range(1, 9)]
    return made


def test_the_frames_equal_the_written_tables(swept: Sweep) -> None:
    cells = pd.read_csv(swept.folder / "cells.csv", keep_default_na=False)
    means = pd.read_csv(swept.folder / "pivot.csv")
    short = {"study.noise": "noise"}
    pd.testing.assert_frame_equal(swept.cells, cells.rename(columns=short), check_dtype=False)
    pd.testing.assert_frame_equal(swept.frame, means.rename(columns=short), check_dtype=False)
    assert list(swept.frame["noise"]) == [0.1, 0.3]
    by_hand = swept.cells.groupby("noise")["share_loo_recovers"]
    assert list(swept.frame["share_loo_recovers mean"]) == pytest.approx(by_hand.mean().tolist())
    error = by_hand.std() / by_hand.size() ** 0.5
    assert list(swept.frame["share_loo_recovers s.e."]) == pytest.approx(error.tolist())


def test_the_figure_of_any_metric(swept: Sweep) -> None:
    ax = swept.figure().axes[0]
    assert ax.get_xlabel() == "noise"
    assert ax.get_ylabel().startswith("share_loo_recovers")
    other = swept.figure("share_test_recovers").axes[0]
    assert other.get_ylabel().startswith("share_test_recovers")
    computed = swept.figure("true_order + 1").axes[0]  # an expression on the records
    assert computed.get_ylabel().startswith("true_order + 1")
    with pytest.raises(InputError, match="metric="):
        swept.figure("tru_order")


def test_the_text_and_the_page_of_a_sweep(swept: Sweep) -> None:
    lines = repr(swept).splitlines()
    assert lines[0].endswith(f"({swept.id}), 8 runs: 8 computed, 0 cached, 0 failed")
    assert lines[1].split() == ["noise", "runs", "share_loo_recovers"]
    assert [line.split()[:2] for line in lines[2:]] == [["0.1", "4"], ["0.3", "4"]]
    page = swept._repr_html_()
    assert page.count("data:image/png;base64,") == 1
    assert "±" in page


@pytest.mark.usefixtures("misbehaving")
def test_failed_runs_are_reported_and_the_others_continue(outputs: Path) -> None:
    some = sweep("misbehaving", ways=["well", "raise"], level=[0, 1], tracking="off")
    assert list(some.errors) == ["level=1"]
    assert list(some.frame["level"]) == [0]
    assert list(some.cells["status"]) == ["finished", "failed"]
    for shown in (repr(some), some._repr_html_()):
        assert "failed: level=1: ArithmeticError: level 1" in shown
    assert "<b>cannot</b>" not in some._repr_html_()

    none = sweep("misbehaving", way="raise", level=range(12), tracking="off")
    assert none.frame.empty
    assert list(none.frame.columns) == ["level", "runs"]
    assert "the runs have no scalar metric; set metric=<expression>" in repr(none)
    assert repr(none).endswith("... and 2 more in .errors")
    assert "<img" not in none._repr_html_()
    with pytest.raises(InputError, match="no scalar metric"):
        none.figure()


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        ({"nose": [0.1]}, "study polynomial_order has no knob 'nose' (did you mean 'noise'?)"),
        ({"job": 2}, "study polynomial_order has no knob 'job' (did you mean 'jobs'?)"),
        ({"noise": []}, "the sweep has no runs"),
        ({"noise": [0.1, "x"]}, "study.noise=x is not allowed; allowed: float, >= 0"),
        ({"noise": [0.1, -1]}, "study.noise=-1"),
        ({"seed": [0, -1]}, "seed=-1 is not allowed"),
        (
            {"seed": range(10**6 + 1)},
            "the sweep has 1,000,001 runs; allowed: 1,000,000 (set max_cells",
        ),
        ({"seed": range(10**12)}, "seed has 1,000,000,000,000 entries"),
        ({"noise": [0.1, 0.2], "seed": range(2), "max_cells": 3}, "the sweep has 4 runs"),
        ({"jobs": 0}, "jobs=0 is not allowed; allowed: int, >= 1"),
        ({"jobs": "two"}, "jobs='two' is not allowed"),
    ],
)
def test_invalid_arguments_are_rejected_before_any_run(
    knobs: dict[str, Any], line: str, outputs: Path
) -> None:
    with pytest.raises(InputError) as error:
        sweep("polynomial_order", data=None, curve="polynomial", **knobs)
    assert line in str(error.value)
    assert not list(outputs.iterdir())


def test_a_misspelt_metric_is_rejected_after_the_first_run(outputs: Path) -> None:
    with pytest.raises(InputError, match="metric=true_odor"):
        sweep("polynomial_order", **KNOBS, metric="true_odor", tracking="off")
    assert len(list(outputs.glob("runs/*/*/*/run.json"))) == 1
    assert not (outputs / "sweeps").exists()


def test_a_script_without_a_main_guard_can_use_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from bythebook import sweep\n"
        "knobs = {'data': None, 'curve': 'polynomial', 'repetitions': 5}\n"
        "made = sweep('polynomial_order', **knobs, seed=range(4), jobs=2, tracking='off')\n"
        "print(made.frame.to_csv(index=False))\n"
    )
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(tmp_path / "out")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert list(pd.read_csv(io.StringIO(done.stdout))["runs"]) == [4]
