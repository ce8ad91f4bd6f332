"""Moved and copied outputs folders: files are kept beside the store, and told of once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.records import run_files
from experiments.records.record import Record
from experiments.tracking import sqlite
from experiments.tracking.local import LocalTracker
from experiments.tracking.moved import mended
from experiments.tracking.runs import payload

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
Capture = pytest.CaptureFixture[str]
MOVED = "the outputs folder was moved or copied"


def elsewhere(tracked: LocalTracker, record: Record, how: Callable[..., Any]) -> LocalTracker:
    """The store of an outputs folder with one logged run, somewhere else."""
    run_files.ensure(record)
    tracked.put([payload(record)])
    there = tracked.database.parent.parent / "deeper" / "there"
    there.parent.mkdir()
    how(tracked.database.parent, there)
    return LocalTracker(there)


def files(tracker: LocalTracker) -> dict[str, list[str]]:
    """Where MLflow's own client says that each run's figures are, and what it finds there."""
    from mlflow import MlflowClient

    client = MlflowClient(tracker.uri)
    found = client.search_runs([e.experiment_id for e in client.search_experiments()])
    return {
        str(run.info.artifact_uri): [a.path for a in client.list_artifacts(run.info.run_id)]
        for run in found
    }


@pytest.mark.parametrize("how", [shutil.move, shutil.copytree])
@pytest.mark.parametrize("fast", [True, False])
def test_what_is_logged_next_and_what_was_logged_before_is_found_there(
    tracked: LocalTracker,
    recorded: Record,
    how: Callable[..., Any],
    fast: bool,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = elsewhere(tracked, recorded, how)
    before = sorted(tracked.artifacts.rglob("*"))
    if not fast:
        monkeypatch.setattr(sqlite, "SCHEMAS", {"something-else"})
    outputs = there.database.parent
    more = ["run", "experiment=fcml/fig-1.1", f"outputs={outputs}"]
    assert main(more) == 0
    err = capsys.readouterr().err
    assert err.count(MOVED) == 1
    assert str(tracked.database.parent) in err
    found = files(there)
    assert len(found) == 2
    for place, listed in found.items():
        assert Path(place.removeprefix("file://")).is_relative_to(there.artifacts)
        assert "run.json" in listed
        assert "figures" in listed
    assert sorted(tracked.artifacts.rglob("*")) == before  # nothing was written there
    assert main([*more, "seed=3"]) == 0
    assert MOVED not in capsys.readouterr().err


def test_sync_notices_too(tracked: LocalTracker, recorded: Record, capsys: Capture) -> None:
    there = elsewhere(tracked, recorded, shutil.move)
    assert main(["sync", "--outputs", str(there.database.parent)]) == 0
    assert capsys.readouterr().err.count(MOVED) == 1
    assert all("run.json" in listed for listed in files(there).values())


def test_places_of_others_and_other_names_of_the_same_folder_stay(
    tracked: LocalTracker, recorded: Record, tmp_path: Path
) -> None:
    tracked.put([payload(recorded)])
    assert mended(tracked.database, tracked.artifacts) == []
    link = tmp_path / "link"
    link.symlink_to(tracked.database.parent)
    assert mended(link / "mlflow.db", link / "mlartifacts") == []
    from mlflow import MlflowClient

    client = MlflowClient(tracked.uri)
    for name, place in (("bucket", "s3://bucket/mlartifacts/x"), ("own", str(tmp_path / "own"))):
        client.create_experiment(name, place)
    assert mended(tracked.database, tmp_path / "new" / "mlartifacts") != []
    assert client.get_experiment_by_name("bucket").artifact_location == "s3://bucket/mlartifacts/x"
    assert client.get_experiment_by_name("own").artifact_location == str(tmp_path / "own")
    ours = client.get_experiment_by_name("polynomial_order").artifact_location
    assert ours == str(tmp_path / "new" / "mlartifacts" / "polynomial_order")
