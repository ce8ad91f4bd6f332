"""Runs that were logged without figures get them when somebody looks, and the rest stays."""

from pathlib import Path
from typing import Any

import pytest

from experiments.cli import main
from experiments.records import run_files, seal
from experiments.records.reading import read
from experiments.tracking import figures
from experiments.tracking.client import ClientTracker
from experiments.tracking.figures import illustrate, latest
from experiments.tracking.local import LocalTracker
from experiments.tracking.runs import IMAGES

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
Capture = pytest.CaptureFixture[str]
RESULTS = ["fcml/fig-1.15", "fcml/fig-1.5"]


@pytest.fixture
def bare(outputs: Path, tracked: LocalTracker) -> LocalTracker:
    """A store with two results and a sweep of two, as `reproduce` and `run -m` leave it."""
    assert main(["reproduce", *RESULTS, "--jobs", "1"]) == 0
    assert main(["run", "-m", "study=polynomial_order", "study.methods=[kfold]", "seed=0,1"]) == 0
    return tracked


def runs(tracker: LocalTracker) -> dict[str, dict[str, Any]]:
    """All that MLflow knows of each run, by its name."""
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


def test_figures_come_later_and_nothing_else_changes(
    outputs: Path, bare: LocalTracker, capsys: Capture
) -> None:
    before = runs(bare)
    assert not any(run["files"] for run in before.values())
    assert main(["sync"]) == 0
    assert "runs with new figures: 2" in capsys.readouterr().out
    after = runs(bare)
    assert {name for name, run in after.items() if run["files"]} == {"Figure 1.15", "Figure 1.5"}
    assert "figures/loo.png" in after["Figure 1.15"]["files"]
    assert "![loo](get-artifact" in after["Figure 1.15"]["tags"]["mlflow.note.content"]
    assert after["Figure 1.15"]["tags"].pop(IMAGES) == "True"
    for run in (before["Figure 1.15"], after["Figure 1.15"]):
        del run["tags"]["mlflow.note.content"], run["files"]
    assert after["Figure 1.15"] == before["Figure 1.15"]
    assert after["seed=0"] == before["seed=0"]
    assert illustrate(latest(outputs), bare, pytest.fail) == 0


def test_mlflows_own_client_does_the_same(outputs: Path, bare: LocalTracker) -> None:
    tracker = ClientTracker(bare.uri, bare.artifacts)
    assert illustrate(latest(outputs), tracker, pytest.fail) == 2
    assert tracker.logged(IMAGES) == bare.logged(IMAGES)
    assert "figures/loo.png" in runs(bare)["Figure 1.15"]["files"]
    assert illustrate(latest(outputs), tracker, pytest.fail) == 0


def test_what_is_drawn_but_not_logged_is_logged(outputs: Path, bare: LocalTracker) -> None:
    """As after a power cut between the two."""
    for folder in latest(outputs):
        run_files.ensure_figures(read(folder))
    assert illustrate(latest(outputs), bare, pytest.fail) == 2


def test_a_figure_that_cannot_be_drawn_costs_a_line(outputs: Path, bare: LocalTracker) -> None:
    first, second = latest(outputs)
    content = {**read(second).content, "digests": {"outcome": "forged"}}
    (second / "run.json").write_text(seal.sealed(content))
    told: list[str] = []
    assert illustrate([first, second], bare, told.append) == 1
    (line,) = told
    assert line.startswith(f"run {second.name} has no figures: ")


def test_runs_that_are_not_tracked_stay_untracked(outputs: Path, tracked: LocalTracker) -> None:
    assert main(["reproduce", *RESULTS, "--jobs", "1", "--tracking", "off"]) == 0
    assert illustrate(latest(outputs), tracked, pytest.fail) == 0
    assert tracked.logged() == set()


def test_the_reports_figures_are_taken_over(
    outputs: Path, bare: LocalTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["report", *RESULTS, "--format", "png"]) == 0
    monkeypatch.setattr(figures, "drawing_pool", lambda: pytest.fail("drawn again"))
    assert illustrate(latest(outputs), bare, pytest.fail) == 2


def test_sync_tells_of_a_damaged_record_once(
    outputs: Path, tracked: LocalTracker, capsys: Capture
) -> None:
    assert main(["reproduce", *RESULTS, "--jobs", "1", "--tracking", "off"]) == 0
    (next(latest(outputs)) / "run.json").write_text("{")
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert capsys.readouterr().err.count("is passed over") == 1
    assert len(tracked.logged(IMAGES)) == 1
