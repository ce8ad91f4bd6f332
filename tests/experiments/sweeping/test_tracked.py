"""What MLflow is told of sweeps: names that differ, every cell below every parent, mean curves."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from experiments.cli import main
from experiments.sweeping.plan import Plan
from experiments.sweeping.tracked import Logged, name

KFOLD = ["study=polynomial_order", "study.methods=[kfold]"]


def plan(swept: dict[str, list[str]], title: str = "Figure 1 over x") -> Plan:
    return Plan("sweep-x", "a", title, [], None, swept)


@pytest.mark.parametrize(
    ("swept", "told"),
    [
        (
            {"study.noise": ["0.1", "0.3", "0.1"], "seed": ["0", "1", "2"]},
            "noise 0.1, 0.3, 3 seeds",
        ),
        ({"study.n": [str(n) for n in range(9)]}, "n 0 to 8 (9)"),
        ({"seed": ["4"]}, "1 seed"),
        ({}, "one cell"),
    ],
)
def test_a_name_begins_with_what_was_swept(swept: dict[str, list[str]], told: str) -> None:
    assert name(plan(swept)) == f"{told} (Figure 1)"


def children(outputs: Path) -> dict[str, set[str]]:
    """The names of the cells below each parent, by the parent's name."""
    sql = (
        "SELECT parents.name, runs.name FROM runs JOIN tags USING (run_uuid)"
        " JOIN runs AS parents ON parents.run_uuid = tags.value WHERE key = 'mlflow.parentRunId'"
    )
    found: dict[str, set[str]] = {}
    with closing(sqlite3.connect(outputs / "mlflow.db")) as connection:
        for parent, child in connection.execute(sql):
            assert child not in found.setdefault(parent, set())  # each once
            found[parent].add(child)
    return found


def test_a_parent_has_all_its_cells_those_that_were_found_too(
    outputs: Path, tracked: object
) -> None:
    assert main(["run", *KFOLD, "study.folds=5", "seed=0", "figures=false"]) == 0
    assert main(["run", "-m", *KFOLD, "study.folds=3,5", "seed=0,1"]) == 0
    assert main(["run", "-m", *KFOLD, "study.folds=3,5", "seed=0,1,2"]) == 0
    both = children(outputs)
    small = {f"folds={folds}, seed={seed}" for folds in (3, 5) for seed in (0, 1)}
    large = small | {f"folds={folds}, seed=2" for folds in (3, 5)}
    assert set(map(frozenset, both.values())) == {frozenset(small), frozenset(large)}
    assert main(["run", "-m", *KFOLD, "study.folds=3,5", "seed=0,1"]) == 0
    assert children(outputs) == both


@pytest.mark.filterwarnings("ignore")
def test_a_parent_has_the_cells_that_another_sweep_logs_at_the_same_moment(
    outputs: Path, tracked: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second sweep looks before the first writes, and writes after it."""
    assert main(["run", "-m", *KFOLD, "study.folds=3,5", "seed=0"]) == 0
    looked, look = [], Logged.elsewhere

    def too_early(logged: Logged, names: Sequence[str]) -> set[str]:
        looked.append(names)
        return set() if len(looked) == 1 else look(logged, names)

    monkeypatch.setattr(Logged, "elsewhere", too_early)
    assert main(["run", "-m", *KFOLD, "study.folds=5,7", "seed=0"]) == 0
    first, second = ({f"folds={n}" for n in pair} for pair in ((3, 5), (5, 7)))
    assert set(map(frozenset, children(outputs).values())) == {frozenset(first), frozenset(second)}


def test_curves_for_more_than_one_knob(outputs: Path, tracked: object) -> None:
    from mlflow import MlflowClient

    words = ["study=order_recovery", "study.repetitions=5", "study.n=20,40", "study.noise=0.1,0.3"]
    assert main(["run", "-m", *words, "seed=0,1"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    cells = pd.read_csv(folder / "cells.csv")
    client = MlflowClient(f"sqlite:///{outputs / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("order_recovery")
    assert experiment is not None
    (parent,) = client.search_runs([experiment.experiment_id], "tags.kind = 'sweep'")
    for noise in (0.1, 0.3):
        key = f"curves/mean share_loo_recovers at noise={noise}"
        history = client.get_metric_history(parent.info.run_id, key)
        part = cells[cells["study.noise"] == noise]
        means = part.groupby("study.n")["share_loo_recovers"].mean()
        assert {m.step: m.value for m in history} == pytest.approx(means.to_dict(), rel=1e-12)


def test_a_cell_says_what_tells_it_from_the_others_and_the_parent_the_rest(
    outputs: Path, tracked: object
) -> None:
    assert main(["run", "-m", *KFOLD, "study.folds=3,5", "seed=0,1"]) == 0
    told: dict[str, dict[str, dict[str, str]]] = {}
    with closing(sqlite3.connect(outputs / "mlflow.db")) as connection:
        for table in ("tags", "params", "metrics"):
            rows = connection.execute(
                f"SELECT name, key, value FROM {table} JOIN runs USING (run_uuid)"
            )
            for run, key, value in rows:
                told.setdefault(run, {}).setdefault(table, {})[key] = value
    (parent,) = [entry for entry in told.values() if entry["tags"]["kind"] == "sweep"]
    cell = told["folds=3, seed=1"]
    assert cell["params"] == {"folds": "3", "seed": "1"}
    assert set(cell["tags"]) == {
        *("kind", "sweep", "mlflow.parentRunId", "mlflow.runName", "bythebook.run_id"),
    }
    assert set(cell["metrics"]) == {"kfold_best_order"}
    assert parent["params"]["methods"] == "['kfold']"
    assert "folds" not in parent["params"]
    assert {"version.numpy", "python", "platform", "code_digest", "data_grade"} <= set(
        parent["tags"]
    )
