"""Nobody is told of a record before it is written through to the disk."""

import os
from pathlib import Path
from typing import Any

import pytest

from experiments.configuration.jobs import Job
from experiments.records import durable
from experiments.records.store import RunStore
from experiments.running import runner, work
from experiments.running.runner import perform_all
from experiments.running.work import Order, run_chunk
from experiments.studies.regression.polynomial_order import PolynomialOrder

JOBS = [Job(PolynomialOrder(methods=["kfold"]), seed=seed) for seed in range(4)]


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch, outputs: Path) -> list[set[str]]:
    """The records that were there at each sync."""
    found: list[set[str]] = []

    def sync(folder: Path) -> None:
        assert folder.is_relative_to(outputs)
        found.append({path.name for path in RunStore(outputs).folders()})

    monkeypatch.setattr(durable, "sync", sync)
    monkeypatch.setattr(durable, "sync_file", lambda stream: sync(Path(stream.name)))
    return found


@pytest.mark.parametrize("number", [1, 4])
def test_a_record_is_synced_before_it_is_told(
    outputs: Path, synced: list[set[str]], number: int
) -> None:
    for done in perform_all(JOBS[:number], outputs):
        assert done.record.id in synced[-1]
    assert len(synced) <= number


def test_a_chunk_is_synced_once(outputs: Path, synced: list[set[str]]) -> None:
    folders = run_chunk(JOBS, Order(outputs, runner.environment()))
    assert [len(names) for names in synced] == [4]
    assert {Path(folder).name for folder in folders} == synced[0]


def test_a_batch_is_told_when_it_is_full(
    outputs: Path, synced: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "BATCH", 2)
    monkeypatch.setattr(runner, "PATIENCE", 1000.0)
    assert len(list(perform_all(JOBS, outputs))) == 4
    assert [len(names) for names in synced] == [2, 4]


def test_the_call_reaches_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durable.sync(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        durable.sync(tmp_path / "nowhere")
    called: list[Any] = []
    monkeypatch.setattr(durable, "_syncfs", lambda: None)
    monkeypatch.setattr(os, "sync", lambda: called.append("all"))
    durable.sync(tmp_path)
    assert called == ["all"]
    monkeypatch.setattr(os, "fsync", called.append)
    with (tmp_path / "a").open("wb", buffering=0) as stream:
        durable.sync_file(stream)
        assert called == ["all", stream.fileno()]
    monkeypatch.setattr(durable, "_syncfs", lambda: lambda _: -1)
    with pytest.raises(OSError, match="cannot be synced"):
        durable.sync(tmp_path)
    assert work.durable is durable
