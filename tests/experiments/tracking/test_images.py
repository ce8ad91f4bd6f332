"""Figures are added to runs that were logged without figures; other fields are unchanged."""

from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.store import artifacts, run_json
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.tracking import images
from bythebook.experiments.tracking.client import ClientTracker
from bythebook.experiments.tracking.images import latest_run_dirs, log_missing_figures
from bythebook.experiments.tracking.local import LocalTracker
from bythebook.experiments.tracking.payload import LOGGED_IMAGES_TAG

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
Capture = pytest.CaptureFixture[str]
RESULTS = ["fcml/fig-1.15", "fcml/fig-1.5"]


@pytest.fixture
def bare(outputs: Path, tracked: LocalTracker) -> LocalTracker:
    """A store with two results and a sweep of two runs, without figures."""
    assert main(["reproduce", *RESULTS, "--jobs", "1"]) == 0
    assert main(["run", "-m", "study=polynomial_order", "study.folds=[10]", "seed=0,1"]) == 0
    return tracked


def runs(tracker: LocalTracker) -> dict[str, dict[str, Any]]:
    """The content of each MLflow run, by its name."""
    from mlflow import MlflowClient

    client = MlflowClient(tracker.uri)
    experiments = [e.experiment_id for e in client.search_experiments()]
    return {
        run.info.run_name: {
            "params": run.data.params,
            "metrics": run.data.metrics,
            "tags": run.data.tags,
            "info": (run.info.status, run.info.start_time, run.info.end_time),
            "files": {a.path for a in client.list_artifacts(run.info.run_id, "figures")},
        }
        for run in client.search_runs(experiments)
    }


def test_added_figures_change_nothing_else(
    outputs: Path, bare: LocalTracker, capsys: Capture
) -> None:
    before = runs(bare)
    assert not any(run["files"] for run in before.values())
    assert main(["sync"]) == 0
    assert "runs with added figures: 2" in capsys.readouterr().out
    after = runs(bare)
    assert {name for name, run in after.items() if run["files"]} == {"Figure 1.15", "Figure 1.5"}
    assert "figures/losses.png" in after["Figure 1.15"]["files"]
    assert "![losses](get-artifact" in after["Figure 1.15"]["tags"]["mlflow.note.content"]
    assert after["Figure 1.15"]["tags"].pop(LOGGED_IMAGES_TAG) == "True"
    for run in (before["Figure 1.15"], after["Figure 1.15"]):
        del run["tags"]["mlflow.note.content"], run["files"]
    assert after["Figure 1.15"] == before["Figure 1.15"]
    assert after["seed=0"] == before["seed=0"]
    assert log_missing_figures(latest_run_dirs(outputs), bare, pytest.fail) == 0


def test_the_client_of_mlflow_gives_the_same(outputs: Path, bare: LocalTracker) -> None:
    tracker = ClientTracker(bare.uri, bare.artifacts)
    assert log_missing_figures(latest_run_dirs(outputs), tracker, pytest.fail) == 2
    assert tracker.logged_ids(LOGGED_IMAGES_TAG) == bare.logged_ids(LOGGED_IMAGES_TAG)
    assert "figures/losses.png" in runs(bare)["Figure 1.15"]["files"]
    assert log_missing_figures(latest_run_dirs(outputs), tracker, pytest.fail) == 0


def test_existing_figures_are_logged(outputs: Path, bare: LocalTracker) -> None:
    """For example after a power failure between drawing and logging."""
    for folder in latest_run_dirs(outputs):
        artifacts.ensure_figures(read_run(folder))
    assert log_missing_figures(latest_run_dirs(outputs), bare, pytest.fail) == 2


def test_a_figure_that_cannot_be_drawn_is_reported_in_one_line(
    outputs: Path, bare: LocalTracker
) -> None:
    first, second = latest_run_dirs(outputs)
    content = {**read_run(second).content, "digests": {"outcome": "forged"}}
    (second / "run.json").write_text(run_json.add_checksum(content))
    lines: list[str] = []
    assert log_missing_figures([first, second], bare, lines.append) == 1
    (line,) = lines
    assert line.startswith(f"could not draw the figures of run {second.name}: ")


def test_runs_that_are_not_logged_stay_so(outputs: Path, tracked: LocalTracker) -> None:
    assert main(["reproduce", *RESULTS, "--jobs", "1", "--tracking", "off"]) == 0
    assert log_missing_figures(latest_run_dirs(outputs), tracked, pytest.fail) == 0
    assert tracked.logged_ids() == set()


def test_the_figures_of_the_report_are_used(
    outputs: Path, bare: LocalTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["report", *RESULTS, "--format", "png"]) == 0
    monkeypatch.setattr(images, "figure_pool", lambda: pytest.fail("drawn again"))
    assert log_missing_figures(latest_run_dirs(outputs), bare, pytest.fail) == 2


def test_sync_reports_a_corrupt_record_once(
    outputs: Path, tracked: LocalTracker, capsys: Capture
) -> None:
    assert main(["reproduce", *RESULTS, "--jobs", "1", "--tracking", "off"]) == 0
    (next(latest_run_dirs(outputs)) / "run.json").write_text("{")
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert capsys.readouterr().err.count("run.json") == 1
    assert len(tracked.logged_ids(LOGGED_IMAGES_TAG)) == 1
