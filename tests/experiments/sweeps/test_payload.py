"""The MLflow runs of sweeps: distinct names, all cells below each parent, curves of means."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.sweeps.payload import LoggedCells, run_name
from bythebook.experiments.sweeps.plan import SweepPlan

KFOLD = ["study=polynomial_order", "study.folds=[5]"]


def plan(swept: dict[str, list[str]], title: str = "Figure 1 over x") -> SweepPlan:
    return SweepPlan("sweep-x", "a", title, [], None, swept)


@pytest.mark.parametrize(
    ("swept", "name"),
    [
        (
            {"study.noise": ["0.1", "0.3", "0.1"], "seed": ["0", "1", "2"]},
            "noise 0.1, 0.3, 3 seeds",
        ),
        ({"study.n": [str(n) for n in range(9)]}, "n 0 to 8 (9)"),
        ({"seed": ["4"]}, "1 seed"),
        ({}, "one run"),
    ],
)
def test_a_name_starts_with_the_swept_values(swept: dict[str, list[str]], name: str) -> None:
    assert run_name(plan(swept)) == f"{name} (Figure 1)"


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


def test_a_parent_has_all_its_cells_also_cached_ones(outputs: Path, tracked: object) -> None:
    assert main(["run", *KFOLD, "study.partitions=5", "seed=0", "figures=false"]) == 0
    assert main(["run", "-m", *KFOLD, "study.partitions=3,5", "seed=0,1"]) == 0
    assert main(["run", "-m", *KFOLD, "study.partitions=3,5", "seed=0,1,2"]) == 0
    both = children(outputs)
    small = {f"partitions={n}, seed={seed}" for n in (3, 5) for seed in (0, 1)}
    large = small | {f"partitions={n}, seed=2" for n in (3, 5)}
    assert set(map(frozenset, both.values())) == {frozenset(small), frozenset(large)}
    assert main(["run", "-m", *KFOLD, "study.partitions=3,5", "seed=0,1"]) == 0
    assert children(outputs) == both


@pytest.mark.filterwarnings("ignore")
def test_a_parent_has_the_cells_that_another_sweep_logs_at_the_same_time(
    outputs: Path, tracked: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second sweep reads the store before the first one writes, and writes after it."""
    assert main(["run", "-m", *KFOLD, "study.partitions=3,5", "seed=0"]) == 0
    calls, original = [], LoggedCells.logged_under_other_parent

    def too_early(logged: LoggedCells, names: Sequence[str]) -> set[str]:
        calls.append(names)
        return set() if len(calls) == 1 else original(logged, names)

    monkeypatch.setattr(LoggedCells, "logged_under_other_parent", too_early)
    assert main(["run", "-m", *KFOLD, "study.partitions=5,7", "seed=0"]) == 0
    first, second = ({f"partitions={n}" for n in pair} for pair in ((3, 5), (5, 7)))
    assert set(map(frozenset, children(outputs).values())) == {frozenset(first), frozenset(second)}


def test_curves_for_two_knobs(outputs: Path, tracked: object) -> None:
    from mlflow import MlflowClient

    words = [
        "study=polynomial_order",
        "study.data=null",
        "study.curve=polynomial",
        "study.repetitions=5",
        "study.n=20,40",
        "study.noise=0.1,0.3",
    ]
    assert main(["run", "-m", *words, "seed=0,1"]) == 0
    (folder,) = (outputs / "sweeps").iterdir()
    cells = pd.read_csv(folder / "cells.csv")
    client = MlflowClient(f"sqlite:///{outputs / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("polynomial_order")
    assert experiment is not None
    (parent,) = client.search_runs([experiment.experiment_id], "tags.kind = 'sweep'")
    for noise in (0.1, 0.3):
        key = f"curves/mean share_loo_recovers at noise={noise}"
        history = client.get_metric_history(parent.info.run_id, key)
        part = cells[cells["study.noise"] == noise]
        means = part.groupby("study.n")["share_loo_recovers"].mean()
        assert {m.step: m.value for m in history} == pytest.approx(means.to_dict(), rel=1e-12)


def test_a_cell_has_the_params_that_differ_and_the_parent_the_shared_ones(
    outputs: Path, tracked: object
) -> None:
    assert main(["run", "-m", *KFOLD, "study.partitions=3,5", "seed=0,1"]) == 0
    runs: dict[str, dict[str, dict[str, str]]] = {}
    with closing(sqlite3.connect(outputs / "mlflow.db")) as connection:
        for table in ("tags", "params", "metrics"):
            rows = connection.execute(
                f"SELECT name, key, value FROM {table} JOIN runs USING (run_uuid)"
            )
            for run, key, value in rows:
                runs.setdefault(run, {}).setdefault(table, {})[key] = value
    (parent,) = [entry for entry in runs.values() if entry["tags"]["kind"] == "sweep"]
    cell = runs["partitions=3, seed=1"]
    assert cell["params"] == {"partitions": "3", "seed": "1"}
    assert set(cell["tags"]) == {
        *("kind", "sweep", "mlflow.parentRunId", "mlflow.runName", "bythebook.run_id"),
    }
    assert set(cell["metrics"]) == {"kfold_best_order", "loo_best_order"}
    assert parent["params"]["folds"] == "[5]"
    assert "partitions" not in parent["params"]
    assert {"version.numpy", "python", "platform", "code_digest", "data_grade"} <= set(
        parent["tags"]
    )
