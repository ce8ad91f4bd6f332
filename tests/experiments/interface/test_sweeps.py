"""`sweep` from Python: the same cells, tables, ids and MLflow runs as typed."""

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

from experiments import BadInput, sweep
from experiments.cli import main
from experiments.interface.sweeps import Sweep

Kept = Callable[[Path], dict[str, Any]]
TYPED = ["study=order_recovery", "study.repetitions=20", "study.noise=0.1,0.3", "seed=range(0,4)"]
KNOBS: dict[str, Any] = {"repetitions": 20, "noise": [0.1, 0.3], "seed": range(4)}


def test_a_sweep_that_is_called_is_the_sweep_that_is_typed(
    two: tuple[Path, Path], kept: Kept
) -> None:
    assert main(["run", "-m", *TYPED, "jobs=2", f"outputs={two[0]}"]) == 0
    called = sweep("order_recovery", **KNOBS, jobs=2, outputs=two[1])
    theirs, ours = map(kept, two)
    typed_words = [*TYPED, "jobs=2", f"outputs={two[0]}"]
    for found in theirs["mlflow"]:  # but for where it is kept
        found[3] = [(k, v.replace(f" {typed_words[-1]}", "")) for k, v in found[3]]
    assert len(ours["records"]) == 8
    assert len(ours["mlflow"]) == 9
    assert ours == theirs
    plans = [json.loads((p / "sweeps" / called.id / "sweep.json").read_text()) for p in two]
    for name in ("id", "keys", "swept", "runs", "title", "study", "metric"):
        assert plans[1][name] == plans[0][name]
    assert plans[1]["overrides"] == [*TYPED, "jobs=2"]

    again = sweep("order_recovery", **KNOBS, outputs=two[1])  # with fewer jobs: it is done
    assert (again.id, called.computed, again.computed) == (called.id, 8, 0)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    seen: list[tuple[int, int]] = []
    folder = tmp_path_factory.mktemp("sweep")
    made = sweep(
        "order_recovery",
        **KNOBS,
        outputs=folder,
        track=False,
        progress=lambda *counts: seen.append(counts),
    )
    assert seen == [(number, 8) for number in range(1, 9)]
    return made


def test_the_frames_are_the_tables_that_were_written(swept: Sweep) -> None:
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


def test_the_figure_is_of_any_metric(swept: Sweep) -> None:
    ax = swept.figure().axes[0]
    assert ax.get_xlabel() == "noise"
    assert ax.get_ylabel().startswith("share_loo_recovers")
    other = swept.figure("share_test_recovers").axes[0]
    assert other.get_ylabel().startswith("share_test_recovers")
    computed = swept.figure("true_order + 1").axes[0]  # an expression on the records
    assert computed.get_ylabel().startswith("true_order + 1")
    with pytest.raises(BadInput, match="metric="):
        swept.figure("tru_order")


def test_how_a_sweep_is_shown(swept: Sweep) -> None:
    lines = repr(swept).splitlines()
    assert lines[0].endswith(f"{swept.id}, 8 cells, 8 computed, 0 found")
    assert lines[1].split() == ["noise", "runs", "share_loo_recovers"]
    assert [line.split()[:2] for line in lines[2:]] == [["0.1", "4"], ["0.3", "4"]]
    page = swept._repr_html_()
    assert page.count("data:image/png;base64,") == 1
    assert "±" in page


@pytest.mark.usefixtures("misbehaving")
def test_cells_that_fail_are_told_and_the_others_go_on(outputs: Path) -> None:
    some = sweep("misbehaving", ways=["well", "raise"], level=[0, 1], track=False)
    assert list(some.errors) == ["level=1"]
    assert list(some.frame["level"]) == [0]
    assert list(some.cells["status"]) == ["finished", "failed"]
    for shown in (repr(some), some._repr_html_()):
        assert "failed: level=1: ArithmeticError: level 1" in shown
    assert "<b>cannot</b>" not in some._repr_html_()

    none = sweep("misbehaving", way="raise", level=range(12), track=False)
    assert none.frame.empty
    assert list(none.frame.columns) == ["level", "runs"]
    assert "no cell has a single number to show; metric=<expression>" in repr(none)
    assert repr(none).endswith("... and 2 more in .errors")
    assert "<img" not in none._repr_html_()
    with pytest.raises(BadInput, match="no cell has a single number"):
        none.figure()


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        ({"nose": [0.1]}, "there is no 'nose' (did you mean 'noise'?)"),
        ({"job": 2}, "there is no 'job' (did you mean 'jobs'?)"),
        ({"noise": []}, "the sweep has no cells"),
        ({"noise": [0.1, "x"]}, "study.noise=x is not allowed; allowed: float, >= 0"),
        ({"noise": [0.1, -1]}, "study.noise=-1"),
        ({"seed": [0, -1]}, "seed=-1 is not allowed"),
        (
            {"seed": range(10**6 + 1)},
            "the sweep would have 1,000,001 cells; allowed: most_cells=1,",
        ),
        ({"seed": range(10**12)}, "seed has 1,000,000,000,000 entries"),
        ({"noise": [0.1, 0.2], "seed": range(2), "most_cells": 3}, "the sweep would have 4 cells"),
        ({"jobs": 0}, "jobs=0 is not allowed; allowed: int, >= 1"),
        ({"jobs": "two"}, "jobs='two' is not allowed"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    knobs: dict[str, Any], line: str, outputs: Path
) -> None:
    with pytest.raises(BadInput) as told:
        sweep("order_recovery", **knobs)
    assert line in str(told.value)
    assert not list(outputs.iterdir())


def test_a_metric_that_is_misspelt_is_refused_with_the_first_cell(outputs: Path) -> None:
    with pytest.raises(BadInput, match="metric=true_odor"):
        sweep("order_recovery", **KNOBS, metric="true_odor", track=False)
    assert len(list(outputs.glob("runs/*/*/*/run.json"))) == 1
    assert not (outputs / "sweeps").exists()


def test_a_script_without_a_guard_may_sweep_with_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from experiments import sweep\n"
        "made = sweep('order_recovery', repetitions=5, seed=range(4), jobs=2, track=False)\n"
        "print(made.frame.to_csv(index=False))\n"
    )
    environment = {**os.environ, "BYTHEBOOK_OUTPUTS": str(tmp_path / "out")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert list(pd.read_csv(io.StringIO(done.stdout))["runs"]) == [4]
