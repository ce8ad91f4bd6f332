"""A single run: its output, its tracker and its resource limits."""

from pathlib import Path

import pytest

from bythebook.experiments.cli import single_run
from bythebook.experiments.cli.exit_codes import OK, UNEXPECTED
from bythebook.experiments.config.schema import ResourceLimits, RunSettings
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.execution import worker
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.tracking.tracker import FaultTolerantTracker

Capture = pytest.CaptureFixture[str]
NAME = "fcml/fig-1.15"


def test_a_run_is_recorded_once_and_its_verdicts_are_printed(
    tmp_path: Path, capsys: Capture
) -> None:
    job, cfg = load_job(NAME), RunSettings(tracking="off", outputs=str(tmp_path), figures=False)
    assert single_run.run(job, cfg, {"paper": "fig3"}) == OK
    first = capsys.readouterr().out
    record = RunStore(tmp_path).latest_run(NAME)
    assert record is not None
    assert "computed" in first.splitlines()[0]
    assert record.id in first.splitlines()[0]
    assert first.count("reproduced") == len(job.claims)
    assert not (record.folder / "figures").exists()
    assert single_run.run(job, cfg) == OK
    assert "already recorded" in capsys.readouterr().out


def test_figures_are_drawn_by_default(tmp_path: Path) -> None:
    assert single_run.run(load_job(NAME), RunSettings(tracking="off", outputs=str(tmp_path))) == OK
    record = RunStore(tmp_path).latest_run(NAME)
    assert record is not None
    assert {path.suffix for path in (record.folder / "figures").iterdir()} == {".png", ".webp"}


def test_a_failed_run_prints_its_error(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise FloatingPointError("no such number")

    monkeypatch.setattr(worker, "compute", fail)
    cfg = RunSettings(tracking="off", outputs=str(tmp_path))
    assert single_run.run(load_job(NAME), cfg) == UNEXPECTED
    assert "the run failed: FloatingPointError: no such number" in capsys.readouterr().err


def test_the_tracker_and_the_limits_of_a_run(tmp_path: Path) -> None:
    assert single_run.tracker_for(RunSettings(tracking="off"), tmp_path) is None
    assert isinstance(single_run.tracker_for(RunSettings(), tmp_path), FaultTolerantTracker)
    assert single_run.limit_options(RunSettings(limits=ResourceLimits(2.0))) == {
        "timeout": 2.0,
        "memory_gb": None,
    }
