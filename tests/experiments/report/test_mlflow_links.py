"""Addresses of runs in the MLflow UI."""

from pathlib import Path
from typing import Any

from bythebook.experiments.report.mlflow_links import mlflow_links
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import Payload


def test_runs_that_are_not_in_the_store_have_no_link(made: Any) -> None:
    assert "127.0.0.1" not in made.text("experiments/fcml/fig-8.8.html")


def test_a_run_is_linked_by_its_experiment_and_id(outputs: Path, tracked: LocalTracker) -> None:
    """In a store with the tables of MLflow."""
    ids = tracked.log_runs([Payload("feed-1", "a_study", "a run", "FINISHED", 1, 2)])
    address = f"http://127.0.0.1:5000/#/experiments/1/runs/{ids['feed-1']}"
    assert mlflow_links(outputs) == {"feed-1": f"{address}?workflowType=machine_learning"}


def test_a_deleted_run_is_not_linked(made: Any) -> None:
    assert mlflow_links(made.outputs) == {made.records["fcml/fig-8.7"].id: made.mlflow}


def test_a_missing_or_invalid_store_gives_no_links(tmp_path: Path) -> None:
    assert mlflow_links(tmp_path) == {}
    (tmp_path / "mlflow.db").write_text("this is not a database")
    assert mlflow_links(tmp_path) == {}
