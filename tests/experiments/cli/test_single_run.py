"""A single run: its output, its tracker and its resource limits."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from bythebook.experiments.cli import console, single_run
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
    claims = [claim for claim in job.claims if claim.equation is None]
    printed = [claim for claim in claims if claim.origin == "printed"]
    derived = len(claims) - len(printed)
    assert f"Printed claims: {len(printed)} reproduced" in first
    assert first.count("reproduced") == len(printed) + 1
    assert f"Derived checks: {derived} of {derived} hold" in first
    assert not (record.folder / "figures").exists()
    assert single_run.run(job, cfg) == OK
    assert "already recorded" in capsys.readouterr().out
    assert single_run.run(job, cfg, verbose=True) == OK
    assert capsys.readouterr().out.count("Tested: ") == len(claims)


def test_a_run_with_many_claims_fits_on_a_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    view = Console(file=screen, width=80, force_terminal=True, highlight=False)
    monkeypatch.setattr(console, "out", view)
    job = load_job("prml/fig-9.8")
    cfg = RunSettings(tracking="off", outputs=str(tmp_path), figures=False)
    assert single_run.run(job, cfg) == OK
    lines = screen.getvalue().splitlines()
    assert len(lines) < 40
    words = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).split())
    for claim in job.claims:
        assert (claim.says.split()[0] in words) or claim.origin == "derived"
        assert claim.expression not in words


def test_figures_are_drawn_by_default(tmp_path: Path) -> None:
    assert single_run.run(load_job(NAME), RunSettings(tracking="off", outputs=str(tmp_path))) == OK
    record = RunStore(tmp_path).latest_run(NAME)
    assert record is not None
    suffixes = {path.suffix for path in (record.folder / "figures").iterdir()}
    assert suffixes == {".json", ".png", ".webp"}


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
