"""Sweeps: the parent run and its children, resuming, tables of means."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store import packed
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.sweeps.run import load_sweep

GRID = ["study=polynomial_order", "study.folds=[5]", "seed=range(0,4)", "study.partitions=3,5,9"]


def sweep(*arguments: str) -> int:
    return main(["run", "-m", *arguments])


def only_sweep(outputs: Path) -> Path:
    (folder,) = (outputs / "sweeps").iterdir()
    return folder


def test_a_sweep_has_a_parent_children_tables_and_a_figure(outputs: Path, tracked: object) -> None:
    assert sweep(*GRID) == 0
    folder = only_sweep(outputs)
    cells = pd.read_csv(folder / "cells.csv")
    assert len(cells) == 12
    assert set(zip(cells["seed"], cells["study.partitions"], strict=True)) == {
        (seed, partitions) for seed in range(4) for partitions in (3, 5, 9)
    }
    pivot = pd.read_csv(folder / "pivot.csv")
    expected = cells.groupby("study.partitions")["kfold_best_order"].agg(["mean", "sem"])
    assert list(pivot["runs"]) == [4, 4, 4]
    assert list(pivot["kfold_best_order mean"]) == pytest.approx(list(expected["mean"]), rel=1e-12)
    assert list(pivot["kfold_best_order s.e."]) == pytest.approx(list(expected["sem"]), rel=1e-12)
    assert (folder / "sweep.png").stat().st_size > 5000


@pytest.mark.filterwarnings("ignore")
def test_mlflow_shows_a_parent_with_named_children(outputs: Path, tracked: object) -> None:
    from mlflow import MlflowClient

    assert sweep(*GRID) == 0
    client = MlflowClient(f"sqlite:///{outputs / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("polynomial_order")
    assert experiment is not None
    (parent,) = client.search_runs([experiment.experiment_id], "tags.kind = 'sweep'")
    children = client.search_runs([experiment.experiment_id], "tags.kind = 'cell'")
    assert parent.info.status == "FINISHED"
    assert parent.data.metrics["cells_finished"] == 12
    assert {c.data.tags["mlflow.parentRunId"] for c in children} == {parent.info.run_id}
    assert "seed=0, partitions=3" in {c.info.run_name for c in children}
    found = {a.path for a in client.list_artifacts(parent.info.run_id)}
    assert {"cells.csv", "pivot.csv", "sweep.png", "sweep.json"} <= found
    history = client.get_metric_history(parent.info.run_id, "curves/mean kfold_best_order")
    assert sorted(m.step for m in history) == [3, 5, 9]


def test_the_same_command_computes_only_missing_runs(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(*GRID, "tracking=off") == 0
    _, _, runs = load_sweep(only_sweep(outputs))
    before = {path.name for path in RunStore(outputs).folders()}
    corrupt = str(runs[5])
    entry = packed.at(outputs / "runs" / "study" / "polynomial_order").refresh().find(corrupt)
    assert entry is not None
    with entry.path.open("r+b") as stream:
        stream.seek(entry.start + entry.size - 1)
        stream.write(b"?")
    capsys.readouterr()
    assert sweep(*GRID, "tracking=off") == 0
    assert "12 runs: 1 computed, 11 cached, 0 failed" in capsys.readouterr().out
    new = {path.name for path in RunStore(outputs).folders()} - before
    assert new == {corrupt.replace("-1", "-2")}


def test_a_sweep_in_the_older_format_is_read(outputs: Path) -> None:
    assert sweep(*GRID, "tracking=off") == 0
    folder = only_sweep(outputs)
    plan, state, runs = load_sweep(folder)
    content = json.loads((folder / "sweep.json").read_text())
    knobs = content["swept"]
    content["swept"] = [
        dict(zip(knobs, cell, strict=True)) for cell in zip(*knobs.values(), strict=True)
    ]
    (folder / "sweep.json").write_text(json.dumps(content))
    assert load_sweep(folder) == (plan, state, runs)
    assert main(["figures"]) == 0


def test_a_sweep_of_one_cell_needs_no_swept_knob(outputs: Path) -> None:
    assert sweep("study=polynomial_order", "study.folds=[5]", "tracking=off") == 0
    plan, state, runs = load_sweep(only_sweep(outputs))
    assert (len(plan), state["status"], len(runs)) == (1, "FINISHED", 1)


def test_a_sweep_without_cells_is_rejected(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("experiment=glob(nope*)") == 2
    assert "the sweep has no runs" in capsys.readouterr().err
    assert list(outputs.iterdir()) == []


def test_the_number_of_processes_makes_no_difference(outputs: Path, tmp_path: Path) -> None:
    assert sweep(*GRID, "tracking=off") == 0
    one = pd.read_csv(only_sweep(outputs) / "cells.csv")
    other = tmp_path / "two"
    assert sweep(*GRID, "tracking=off", "jobs=2", f"outputs={other}") == 0
    two = pd.read_csv(only_sweep(other) / "cells.csv")
    pd.testing.assert_frame_equal(one, two, check_exact=True)


@pytest.mark.usefixtures("misbehaving")
def test_a_failed_run_is_recorded_and_listed_and_the_others_continue(
    outputs: Path, tracked: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("study=misbehaving", "study.ways=[well,raise,well]", "study.level=0,1,2") == 1
    captured = capsys.readouterr()
    assert "3 runs: 3 computed, 0 cached, 1 failed" in captured.out
    assert "failed: level=1: ArithmeticError: level 1" in captured.err
    cells = pd.read_csv(only_sweep(outputs) / "cells.csv")
    assert list(cells["status"]) == ["finished", "failed", "finished"]
    _, state, _ = load_sweep(only_sweep(outputs))
    assert state["status"] == "FAILED"


def test_an_invalid_cell_is_reported_before_any_run(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("study=polynomial_order", "study.partitions=5,0") == 2
    assert (
        capsys.readouterr().err
        == "bythebook: study.partitions=0: 0 is not allowed; allowed: int, >= 1 and <= 1000\n"
    )
    assert not list(outputs.iterdir())


def test_groups_can_be_swept(outputs: Path) -> None:
    assert sweep("experiment=fcml/fig-1.15,fcml/fig-1.12", "tracking=off") == 0
    cells = pd.read_csv(only_sweep(outputs) / "cells.csv")
    assert list(cells["experiment"]) == ["fcml/fig-1.15", "fcml/fig-1.12"]
    folders = {
        path.parent.relative_to(outputs / "runs").as_posix() for path in RunStore(outputs).folders()
    }
    assert folders == {"fcml/fig-1.15", "fcml/fig-1.12"}  # the runs are canonical


def test_a_metric_may_be_any_expression(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(*GRID, "tracking=off", "metric='mean(kfold_loss)'") == 0
    cells = pd.read_csv(only_sweep(outputs) / "cells.csv")
    assert cells["mean(kfold_loss)"].nunique() > 6
    capsys.readouterr()
    assert sweep(*GRID, "tracking=off", "metric='max(kfold_los)'") == 2
    assert "(did you mean 'kfold_loss'?)" in capsys.readouterr().err
