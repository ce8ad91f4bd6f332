"""Moved and copied outputs folders: files stay next to the store, one message is printed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store import artifacts
from bythebook.experiments.store.record import Record
from bythebook.experiments.tracking import sqlite_writer
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import run_payload
from bythebook.experiments.tracking.relocation import repair_artifact_paths

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
Capture = pytest.CaptureFixture[str]
MOVED = "the outputs folder was moved or copied"


def relocated(tracked: LocalTracker, record: Record, how: Callable[..., Any]) -> LocalTracker:
    """The store of an outputs folder with one logged run, after a move or copy."""
    artifacts.ensure_artifacts(record)
    tracked.log_runs([run_payload(record)])
    new = tracked.database.parent.parent / "deeper" / "new"
    new.parent.mkdir()
    how(tracked.database.parent, new)
    return LocalTracker(new)


def files(tracker: LocalTracker) -> dict[str, list[str]]:
    """The artifacts of each run by its location, read with MLflow's client."""
    from mlflow import MlflowClient

    client = MlflowClient(tracker.uri)
    found = client.search_runs([e.experiment_id for e in client.search_experiments()])
    return {
        str(run.info.artifact_uri): [a.path for a in client.list_artifacts(run.info.run_id)]
        for run in found
    }


@pytest.mark.parametrize("how", [shutil.move, shutil.copytree])
@pytest.mark.parametrize("fast", [True, False])
def test_earlier_and_later_runs_have_their_files_in_the_new_folder(
    tracked: LocalTracker,
    recorded: Record,
    how: Callable[..., Any],
    fast: bool,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = relocated(tracked, recorded, how)
    before = sorted(tracked.artifacts.rglob("*"))
    if not fast:
        monkeypatch.setattr(sqlite_writer, "SUPPORTED_SCHEMAS", {"something-else"})
    outputs = moved.database.parent
    command = ["run", "experiment=fcml/fig-1.1", f"outputs={outputs}"]
    assert main(command) == 0
    err = capsys.readouterr().err
    assert err.count(MOVED) == 1
    assert str(tracked.database.parent) in err
    found = files(moved)
    assert len(found) == 2
    for location, listed in found.items():
        assert Path(location.removeprefix("file://")).is_relative_to(moved.artifacts)
        assert "run.json" in listed
        assert "figures" in listed
    assert sorted(tracked.artifacts.rglob("*")) == before  # nothing was written there
    assert main([*command, "seed=3"]) == 0
    assert MOVED not in capsys.readouterr().err


def test_sync_updates_the_paths(tracked: LocalTracker, recorded: Record, capsys: Capture) -> None:
    moved = relocated(tracked, recorded, shutil.move)
    assert main(["sync", "--outputs", str(moved.database.parent)]) == 0
    assert capsys.readouterr().err.count(MOVED) == 1
    assert sum("run.json" in listed for listed in files(moved).values()) == 1


def test_other_locations_and_links_to_the_same_folder_are_unchanged(
    tracked: LocalTracker, recorded: Record, tmp_path: Path
) -> None:
    tracked.log_runs([run_payload(recorded)])
    assert repair_artifact_paths(tracked.database, tracked.artifacts) == []
    link = tmp_path / "link"
    link.symlink_to(tracked.database.parent)
    assert repair_artifact_paths(link / "mlflow.db", link / "mlartifacts") == []
    from mlflow import MlflowClient

    client = MlflowClient(tracked.uri)
    for name, location in (("bucket", "s3://bucket/mlartifacts/x"), ("own", str(tmp_path / "own"))):
        client.create_experiment(name, location)
    assert repair_artifact_paths(tracked.database, tmp_path / "new" / "mlartifacts") != []
    assert client.get_experiment_by_name("bucket").artifact_location == "s3://bucket/mlartifacts/x"
    assert client.get_experiment_by_name("own").artifact_location == str(tmp_path / "own")
    location = client.get_experiment_by_name("polynomial_order").artifact_location
    assert location == str(tmp_path / "new" / "mlartifacts" / "polynomial_order")
