"""Records are flushed to the disk before they are reported."""

import os
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.execution import runner, worker
from bythebook.experiments.execution.runner import run_jobs
from bythebook.experiments.execution.worker import RunOptions, run_chunk
from bythebook.experiments.store import fsync
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [Job(PolynomialOrder(folds=[5]), seed=seed) for seed in range(4)]


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> list[set[str]]:
    """The run ids in the outputs folder at each flush."""
    flushes: list[set[str]] = []

    def sync(folder: Path) -> None:
        assert folder.is_relative_to(outputs)
        flushes.append({path.name for path in RunStore(outputs).folders()})

    monkeypatch.setattr(fsync, "fsync_filesystem", sync)
    monkeypatch.setattr(fsync, "fsync_file", lambda stream: sync(Path(stream.name)))
    return flushes


@pytest.mark.parametrize("number", [1, 4])
def test_a_record_is_flushed_before_it_is_reported(
    outputs: Path, synced: list[set[str]], number: int
) -> None:
    for done in run_jobs(JOBS[:number], outputs):
        assert done.record.id in synced[-1]
    assert len(synced) <= number


def test_a_chunk_is_flushed_once(outputs: Path, synced: list[set[str]]) -> None:
    folders = run_chunk(JOBS, RunOptions(outputs, runner.collect_environment()))
    assert [len(names) for names in synced] == [4]
    assert {Path(folder).name for folder in folders} == synced[0]


def test_a_batch_is_flushed_when_it_is_full(
    outputs: Path, synced: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "FLUSH_SIZE", 2)
    monkeypatch.setattr(runner, "FLUSH_INTERVAL_S", 1000.0)
    assert len(list(run_jobs(JOBS, outputs))) == 4
    assert [len(names) for names in synced] == [2, 4]


def test_the_file_system_is_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync.fsync_filesystem(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        fsync.fsync_filesystem(tmp_path / "nowhere")
    called: list[Any] = []
    monkeypatch.setattr(fsync, "_syncfs", lambda: None)
    monkeypatch.setattr(os, "sync", lambda: called.append("all"))
    fsync.fsync_filesystem(tmp_path)
    assert called == ["all"]
    monkeypatch.setattr(os, "fsync", called.append)
    with (tmp_path / "a").open("wb", buffering=0) as stream:
        fsync.fsync_file(stream)
        assert called == ["all", stream.fileno()]
    monkeypatch.setattr(fsync, "_syncfs", lambda: lambda _: -1)
    with pytest.raises(OSError, match="could not be flushed"):
        fsync.fsync_filesystem(tmp_path)
    assert worker.fsync is fsync
