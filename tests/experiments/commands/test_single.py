"""A single run: where it is logged, what it may use, and how it is told of."""

from pathlib import Path

import pytest

from experiments.commands import single
from experiments.commands.codes import OK, UNEXPECTED
from experiments.configuration.build import experiment_job
from experiments.configuration.schema import Limit, Settings, Tracking
from experiments.records.store import RunStore
from experiments.running import work
from experiments.tracking.tracker import Forgiving

Capture = pytest.CaptureFixture[str]
OFF = Tracking("off")
NAME = "fcml/fig-1.15"


def test_a_run_is_recorded_once_and_told_with_its_verdicts(tmp_path: Path, capsys: Capture) -> None:
    job, cfg = experiment_job(NAME), Settings(tracking=OFF, outputs=str(tmp_path), figures=False)
    assert single.run(job, cfg, {"paper": "fig3"}) == OK
    first = capsys.readouterr().out
    record = RunStore(tmp_path).latest(NAME)
    assert record is not None
    assert "computed" in first.splitlines()[0]
    assert record.id in first.splitlines()[0]
    assert first.count("reproduced") == len(job.claims)
    assert not (record.folder / "figures").exists()
    assert single.run(job, cfg) == OK
    assert "already recorded" in capsys.readouterr().out


def test_figures_are_drawn_where_they_are_wanted(tmp_path: Path) -> None:
    assert single.run(experiment_job(NAME), Settings(tracking=OFF, outputs=str(tmp_path))) == OK
    record = RunStore(tmp_path).latest(NAME)
    assert record is not None
    assert {path.suffix for path in (record.folder / "figures").iterdir()} == {".png", ".webp"}


def test_a_run_that_fails_says_why(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise FloatingPointError("no such number")

    monkeypatch.setattr(work, "compute", fail)
    cfg = Settings(tracking=OFF, outputs=str(tmp_path))
    assert single.run(experiment_job(NAME), cfg) == UNEXPECTED
    assert "the run failed: FloatingPointError: no such number" in capsys.readouterr().err


def test_where_it_is_logged_and_what_it_may_use(tmp_path: Path) -> None:
    assert single.tracker_of(Settings(tracking=OFF), tmp_path) is None
    assert isinstance(single.tracker_of(Settings(), tmp_path), Forgiving)
    assert single.limits(Settings(limit=Limit(2.0))) == {"seconds": 2.0, "memory_gb": None}
