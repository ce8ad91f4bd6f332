"""The store of runs: atomic writes, no overwriting, look-up by key and id."""

import os
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.config.validation import load_job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, diff_outcomes
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import RunOptions, compute, run_and_record, run_chunk
from bythebook.experiments.store import artifacts, packed, tags
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.studies.regression.ridge_path import RidgePath

FACTS = collect_environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


def test_a_record_is_read_as_it_was_written(outputs: Path) -> None:
    job = load_job("fcml/fig-1.15")
    written = run_and_record(job, RunOptions(outputs, FACTS))
    back = read_run(written.folder)
    assert back.content == written.content
    assert back.folder.parent == outputs / "runs" / "fcml" / "fig-1.15"
    assert back["science"] == job.config
    assert diff_outcomes(back.outcome, compute(job).outcome) == []
    assert back.verdicts == written.verdicts


def test_equal_jobs_share_one_folder(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first, second = (
        run_and_record(job, RunOptions(outputs, FACTS)),
        run_and_record(job, RunOptions(outputs, FACTS)),
    )
    assert first.id == second.id
    assert len(list(store.folders())) == 1


def test_a_forced_run_does_not_replace_an_old_one(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first = run_and_record(job, RunOptions(outputs, FACTS))
    before = (first.folder / "run.json").read_bytes()
    second = run_and_record(job, RunOptions(outputs, FACTS, force=True))
    assert (first.id, second.id) == (f"{job.key}-1", f"{job.key}-2")
    assert (first.folder / "run.json").read_bytes() == before
    assert store.find_completed(job).id == second.id  # type: ignore[union-attr]


def test_a_failed_run_is_not_completed(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    error = {"type": "E", "message": "m", "traceback": ""}
    failed = store.save(job, FACTS, error=error)
    assert store.find_completed(job) is None
    finished = store.save(job, FACTS, outcome=Outcome(a=1))
    assert (failed.id, finished.id) == (f"{job.key}-1", f"{job.key}-2")
    assert store.find_completed(job).id == finished.id  # type: ignore[union-attr]


@pytest.mark.parametrize("others", [["finished"], ["failed", "finished"], ["failed", "failed"]])
def test_a_run_that_another_process_finishes_meanwhile_is_used(
    outputs: Path, job: Job, monkeypatch: pytest.MonkeyPatch, others: list[str]
) -> None:
    """Another process records a run after each look-up of the attempts."""
    mine, theirs = RunStore(outputs), RunStore(outputs)
    look_up, waiting = mine._attempts, iter(others)
    error = {"type": "E", "message": "m", "traceback": ""}

    def look_up_too_early(requested: Job) -> list[Path]:
        attempts = look_up(requested)
        status = next(waiting, None)
        if status == "finished":
            theirs.save(requested, FACTS, outcome=Outcome(a=1))
        elif status == "failed":
            theirs.save(requested, FACTS, error=error)
        return attempts

    monkeypatch.setattr(mine, "_attempts", look_up_too_early)
    record = mine.save(job, FACTS, outcome=Outcome(a=1))
    finished = [path.name for path in mine.folders() if read_run(path).finished]
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
        run_and_record(job, RunOptions(outputs, FACTS))
    assert list(store.folders()) == []
    assert store.find_completed(job) is None
    assert not list(outputs.rglob(".writing-*"))


def test_temporary_folders_are_not_runs_and_are_removed_when_old(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    record = run_and_record(job, RunOptions(outputs, FACTS))
    left = record.folder.parent / ".writing-abc"
    left.mkdir()
    (left / "run.json").write_text("{")
    assert [path.name for path in store.folders()] == [record.id]
    store.remove_stale_temp_dirs()
    assert left.exists()  # its process may still run
    os.utime(left, (time.time() - 7200,) * 2)
    store.remove_stale_temp_dirs()
    assert not left.exists()


def test_a_run_is_found_by_a_unique_beginning_of_its_id(outputs: Path, job: Job) -> None:
    store = RunStore(outputs)
    first = run_and_record(job, RunOptions(outputs, FACTS))
    run_and_record(job, RunOptions(outputs, FACTS, force=True))
    assert store.find(first.id).id == first.id
    with pytest.raises(InputError, match="is the beginning of 2 run ids"):
        store.find(job.key)
    with pytest.raises(InputError, match="no run id begins with 'ffff'"):
        store.find("ffff")
    with pytest.raises(InputError, match="not a run id"):
        store.find("../../etc")


def test_a_packed_run_is_found_and_can_have_files(outputs: Path, cells: list[Job]) -> None:
    store, jobs = RunStore(outputs), cells[:3]
    paths = [Path(path) for path in run_chunk(jobs, RunOptions(outputs, FACTS))]
    assert [store.find_completed(job).folder for job in jobs] == paths  # type: ignore[union-attr]
    assert sorted(store.folders()) == sorted(paths)
    assert store.find(jobs[0].key[:10]).id == f"{jobs[0].key}-1"
    assert list(store.locate_runs([paths[2].name, None, "0123456789abcdef-1"])) == [
        paths[2],
        None,
        None,
    ]
    artifacts.ensure_tables(read_run(paths[0]))
    tags.add_tags(paths[0], {"paper": "fig3"})
    assert (paths[0] / "tables").is_dir()
    assert tags.read_tags(paths[0]) == {"paper": "fig3"}
    assert store.find_completed(jobs[0]).id == paths[0].name  # type: ignore[union-attr]
    found = list(store.find_all_completed(job.location for job in [*jobs, cells[3]]))
    assert [entry and entry.folder for entry in found] == [*paths, None]


def test_runs_are_found_in_more_locations_than_are_cached(
    outputs: Path, cells: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Job(RidgePath(ln_count=0))
    paths = [Path(path) for path in run_chunk([cells[0], other], RunOptions(outputs, FACTS))]
    monkeypatch.setattr(packed, "at", lru_cache(maxsize=1)(packed.Packed))
    addresses = [cells[0].location, other.location]
    assert addresses[0].folder != addresses[1].folder
    found = list(RunStore(outputs).find_all_completed(addresses))
    assert [entry and entry.folder for entry in found] == paths
    assert all(entry is not None and entry.summary is not None for entry in found)
