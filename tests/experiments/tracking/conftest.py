"""Fixtures: a recorded run, the content of an MLflow run, an empty current folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty current folder, in which MLflow must not write files."""
    empty = tmp_path / "working"
    empty.mkdir()
    monkeypatch.chdir(empty)
    yield
    assert list(empty.iterdir()) == []


@pytest.fixture
def record(recorded: Record) -> Record:
    """A run with its figures and tables."""
    artifacts.ensure_artifacts(recorded)
    return recorded


@pytest.fixture
def read_back() -> Callable[[str, str], dict[str, Any]]:
    """A function that reads a run with MLflow's client."""
    return _read_back


def _read_back(uri: str, run_id: str) -> dict[str, Any]:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    run = client.get_run(run_id)
    history = {
        name: sorted(
            (m.step, m.timestamp, repr(m.value)) for m in client.get_metric_history(run_id, name)
        )
        for name in run.data.metrics
    }
    listed = sorted(a.path for a in client.list_artifacts(run_id))
    info = run.info
    return {
        "params": run.data.params,
        "metrics": {name: repr(value) for name, value in run.data.metrics.items()},
        "history": history,
        "tags": {k: v.replace(run_id, "OWN-ID") for k, v in run.data.tags.items()},
        "artifacts": listed,
        "figures": sorted(a.path for a in client.list_artifacts(run_id, "figures")),
        "info": (info.run_name, info.status, info.start_time, info.end_time, info.lifecycle_stage),
        "experiment": client.get_experiment(info.experiment_id).name,
    }
