"""Addresses in the MLflow UI, for the runs that the local store knows."""

from pathlib import Path
from typing import Any

from experiments.report.tracked import links
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import Payload


def test_no_link_to_runs_that_the_store_does_not_know(made: Any) -> None:
    assert "127.0.0.1" not in made.text("experiments/fcml/fig-8.8.html")


def test_a_run_is_linked_by_its_experiment_and_id(outputs: Path, tracked: LocalTracker) -> None:
    """In a store that was written by MLflow's own tables."""
    ids = tracked.put([Payload("feed-1", "a_study", "a run", "FINISHED", 1, 2)])
    place = f"http://127.0.0.1:5000/#/experiments/1/runs/{ids['feed-1']}"
    assert links(outputs) == {"feed-1": f"{place}?workflowType=machine_learning"}


def test_a_deleted_run_is_not_linked(made: Any) -> None:
    assert links(made.outputs) == {made.records["fcml/fig-8.7"].id: made.mlflow}


def test_no_store_and_no_database_are_no_links(tmp_path: Path) -> None:
    assert links(tmp_path) == {}
    (tmp_path / "mlflow.db").write_text("this is not a database")
    assert links(tmp_path) == {}
