"""Run folders: whole or not at all, never overwritten, found by key."""

import os
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, differences
from experiments.records import packed, run_files, tags
from experiments.records.reading import read
from experiments.records.store import RunStore
from experiments.running.provenance import environment
from experiments.running.work import Order, compute, perform, run_chunk
from experiments.studies.regression.ridge_path import RidgePath

FACTS = environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


def test_a_record_reads_back_as_it_was_written(outputs: Path) -> None:
    job = experiment_job("fcml/fig-1.15")
    written = perform(job, Order(outputs, FACTS))
    back = read(written.folder)
    assert back.content == written.content
    assert back.folder.parent == outputs / "runs" / "fcml" / "fig-1.15"
    assert back["science"] == job.science
    assert differences(back.outcome, compute(job).outcome) == []
    assert back.verdicts == written.verdicts


def test_equal_jobs_share_one_folder(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first, second = perform(job, Order(outputs, FACTS)), perform(job, Order(outputs, FACTS))
    assert first.id == second.id
    assert len(list(store.folders())) == 1


def test_a_fresh_run_never_replaces_an_old_one(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first = perform(job, Order(outputs, FACTS))
    before = (first.folder / "run.json").read_bytes()
    second = perform(job, Order(outputs, FACTS, fresh=True))
    assert (first.id, second.id) == (f"{job.key}-1", f"{job.key}-2")
    assert (first.folder / "run.json").read_bytes() == before
    assert store.done(job).id == second.id  # type: ignore[union-attr]


def test_a_failed_run_is_not_done(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    error = {"type": "E", "message": "m", "traceback": ""}
    failed = store.write(job, FACTS, error=error)
    assert store.done(job) is None
    finished = store.write(job, FACTS, outcome=Outcome(a=1))
    assert (failed.id, finished.id) == (f"{job.key}-1", f"{job.key}-2")
    assert store.done(job).id == finished.id  # type: ignore[union-attr]


@pytest.mark.parametrize("others", [["finished"], ["failed", "finished"], ["failed", "failed"]])
def test_a_run_that_another_process_finishes_after_the_look_is_adopted(
    outputs: Path, job: Job, monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    """After each look at the attempts another process records one more: there is no window."""
    mine, theirs = RunStore(outputs), RunStore(outputs)
    look, waiting = mine._attempts, iter(others)
    error = {"type": "E", "message": "m", "traceback": ""}

    def look_too_early(asked: Job) -> list[Path]:
        seen = look(asked)
        status = next(waiting, None)
        if status == "finished":
            theirs.write(asked, FACTS, outcome=Outcome(a=1))
        elif status == "failed":
            theirs.write(asked, FACTS, error=error)
        return seen

    monkeypatch.setattr(mine, "_attempts", look_too_early)
    record = mine.write(job, FACTS, outcome=Outcome(a=1))
    finished = [path.name for path in mine.folders() if read(path).finished]
    assert finished == [record.id] == [f"{job.key}-{len(others) + (others[-1] == 'failed')}"]
    assert not list(outputs.rglob(".writing-*"))


def test_an_interrupted_write_leaves_no_run(
    outputs: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(outputs)

    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", no_space)
    with pytest.raises(OSError, match="No space"):
        perform(job, Order(outputs, FACTS))
    assert list(store.folders()) == []
    assert store.done(job) is None
    assert not list(outputs.rglob(".writing-*"))


def test_leftovers_of_a_killed_writer_are_not_runs_and_go_in_time(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    record = perform(job, Order(outputs, FACTS))
    left = record.folder.parent / ".writing-abc"
    left.mkdir()
    (left / "run.json").write_text("{")
    assert [path.name for path in store.folders()] == [record.id]
    store.sweep_leftovers()
    assert left.exists()  # it may still be at work
    os.utime(left, (time.time() - 7200,) * 2)
    store.sweep_leftovers()
    assert not left.exists()


def test_find_by_id_or_its_beginning(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first = perform(job, Order(outputs, FACTS))
    perform(job, Order(outputs, FACTS, fresh=True))
    assert store.find(first.id).id == first.id
    with pytest.raises(BadInput, match="fits 2 runs"):
        store.find(job.key)
    with pytest.raises(BadInput, match="no run 'ffff'"):
        store.find("ffff")
    with pytest.raises(BadInput, match="not a run id"):
        store.find("../../etc")


def test_a_packed_run_is_done_and_found_and_has_files_of_its_own(
    outputs: Path, cells: list[Job]
) -> None:
    store, jobs = RunStore(outputs), cells[:3]
    paths = [Path(path) for path in run_chunk(jobs, Order(outputs, FACTS))]
    assert [store.done(job).folder for job in jobs] == paths  # type: ignore[union-attr]
    assert sorted(store.folders()) == sorted(paths)
    assert store.find(jobs[0].key[:10]).id == f"{jobs[0].key}-1"
    assert list(store.located([paths[2].name, None, "0123456789abcdef-1"])) == [
        paths[2],
        None,
        None,
    ]
    run_files.ensure_tables(read(paths[0]))
    tags.add(paths[0], {"paper": "fig3"})
    assert (paths[0] / "tables").is_dir()
    assert tags.read(paths[0]) == {"paper": "fig3"}
    assert store.done(jobs[0]).id == paths[0].name  # type: ignore[union-attr]
    found = list(store.finished(job.address for job in [*jobs, cells[3]]))
    assert [entry and entry.folder for entry in found] == [*paths, None]


def test_runs_of_more_places_than_are_remembered_are_found(
    outputs: Path, cells: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Job(RidgePath(ln_count=0))
    paths = [Path(path) for path in run_chunk([cells[0], other], Order(outputs, FACTS))]
    monkeypatch.setattr(packed, "at", lru_cache(maxsize=1)(packed.Packed))
    addresses = [cells[0].address, other.address]
    assert addresses[0].place != addresses[1].place
    found = list(RunStore(outputs).finished(addresses))
    assert [entry and entry.folder for entry in found] == paths
    assert all(entry is not None and entry.told is not None for entry in found)
