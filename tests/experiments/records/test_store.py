"""Run folders: whole or not at all, never overwritten, found by key."""

import os
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.configuration.build import experiment_job
from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome, differences
from experiments.records import packed, run_files, seal, tags
from experiments.records.store import RunStore, read, told
from experiments.records.told import Told
from experiments.running.provenance import environment
from experiments.running.work import Order, compute, perform, run_chunk
from experiments.studies.regression.polynomial_order import PolynomialOrder

FACTS = environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


@pytest.fixture
def job() -> Job:
    return Job(PolynomialOrder(orders=[1, 2, 3], curves=[1]))


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


def test_a_record_of_another_format_is_refused(outputs: Path, job: Job) -> None:
    record = perform(job, Order(outputs, FACTS))
    path = record.folder / "run.json"
    path.write_text(path.read_text().replace('"format": 3', '"format": 99'))
    with pytest.raises(BadInput, match="format 99"):
        read(record.folder)
    path.write_text("{")
    with pytest.raises(BadInput, match="is not whole"):
        read(record.folder)


def test_arrays_are_never_unpickled(outputs: Path, job: Job) -> None:
    record = perform(job, Order(outputs, FACTS))
    path = record.folder / "arrays.npz"
    np.savez(path, x=np.array([object()], dtype=object))
    with pytest.raises(BadInput, match=r"arrays.npz is not what was written"):
        _ = read(record.folder).outcome
    digests = {**record["digests"], "arrays.npz": sha256(path.read_bytes()).hexdigest()}
    (record.folder / "run.json").write_text(seal.sealed({**record.content, "digests": digests}))
    with pytest.raises(BadInput, match="allow_pickle=False"):
        _ = read(record.folder).outcome


def test_a_record_that_was_edited_is_not_trusted(outputs: Path, job: Job) -> None:
    record = perform(job, Order(outputs, FACTS))
    path = record.folder / "run.json"
    value = repr(record.outcome["training_loss"].at(order=2).item)
    whole = path.read_text()
    path.write_text(whole.replace(value, "0.5"))
    with pytest.raises(BadInput, match="is passed over: it is not what was written"):
        read(record.folder)
    outcome = {**record["outcome"], "forged": 1}
    path.write_text(seal.sealed({**record.content, "outcome": outcome}))
    with pytest.raises(BadInput, match="outcome is not what was written"):
        _ = read(record.folder).outcome
    (record.folder / "arrays.npz").unlink()
    path.write_text(whole)
    with pytest.raises(BadInput, match=r"arrays.npz cannot be read"):
        _ = read(record.folder).outcome


def cells(number: int) -> list[Job]:
    """Jobs with small and with large arrays."""
    orders = [list(range(1, 4)), list(range(1, 12))]
    return [Job(PolynomialOrder(orders=orders[n % 2], curves=[1]), seed=n) for n in range(number)]


def facts_of(content: dict[str, Any]) -> dict[str, Any]:
    """What does not hang on when a run was made, and how its arrays are kept."""
    timed = ("started", "seconds", "cpu_seconds")
    facts = {k: v for k, v in content["provenance"].items() if k not in timed}
    outcome = content["digests"]["outcome"]
    return {**content, "provenance": facts, "digests": outcome}


def test_a_packed_run_is_what_a_run_in_a_folder_is(tmp_path: Path) -> None:
    """The same numbers bit by bit, the same words, the same tables and figures."""
    jobs = cells(6)
    folders = [perform(job, Order(tmp_path / "single", FACTS)) for job in jobs]
    paths = run_chunk(jobs, Order(tmp_path / "sweep", FACTS))
    assert len(list((tmp_path / "sweep").rglob("*.pack"))) == 1
    assert not list((tmp_path / "sweep").rglob("run.json"))
    for single, path in zip(folders, map(Path, paths), strict=True):
        other = read(path)
        assert differences(single.outcome, other.outcome) == []
        assert [q.values.tobytes() for q in single.outcome.values()] == [
            q.values.tobytes() for q in other.outcome.values()
        ]
        assert facts_of(other.content) == facts_of(read(single.folder).content)
        assert other.metrics == single.metrics
        assert other.verdicts == single.verdicts
        assert replace(told(path), started=0.0, seconds=0.0) == replace(
            Told.of(single), started=0.0, seconds=0.0
        )


def test_a_packed_run_is_done_and_found_and_has_files_of_its_own(outputs: Path) -> None:
    store, jobs = RunStore(outputs), cells(3)
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
    found = list(store.finished(job.address for job in [*jobs, *cells(4)[3:]]))
    assert [entry and entry.folder for entry in found] == [*paths, None]


def test_packed_and_single_runs_count_on(outputs: Path) -> None:
    store, (job, *_) = RunStore(outputs), cells(1)
    order = Order(outputs, FACTS, fresh=True)
    names = [perform(job, order).id]
    names += [Path(path).name for path in run_chunk([job, job], order)]
    names += [perform(job, order).id]
    assert names == [f"{job.key}-{number}" for number in range(1, 5)]
    assert store.done(job).id == names[-1]  # type: ignore[union-attr]
    adopted = run_chunk([job, job], Order(outputs, FACTS))
    assert [Path(path).name for path in adopted] == [names[-1]] * 2
    assert len(list(store.folders())) == 4


def test_a_damaged_pack_costs_a_line_and_what_it_hit(outputs: Path) -> None:
    store, jobs = RunStore(outputs), cells(4)
    paths = [Path(path) for path in run_chunk(jobs, Order(outputs, FACTS))]
    entry = packed.at(paths[1].parent).find(paths[1].name)
    assert entry is not None
    with entry.path.open("r+b") as stream:
        stream.seek(entry.start + entry.size // 2)
        stream.write(b"\0\0\0\0")
    with pytest.raises(BadInput, match=rf"{paths[1].name} in .*pack is passed over"):
        read(paths[1])
    assert store.done(jobs[1]) is None
    found = list(store.finished(job.address for job in jobs))
    assert [entry is not None for entry in found] == [True, False, True, True]
    (again,) = run_chunk([jobs[1]], Order(outputs, FACTS))
    assert Path(again).name == f"{jobs[1].key}-2"
    assert list(store.damage()) == []
    content = entry.path.read_bytes()
    entry.path.write_bytes(content[:30] + b"\0\0\0\0" + content[34:])
    packed.at.cache_clear()
    (line,) = store.damage()
    assert "is damaged" in line
    assert "3 runs were found" in line
    assert [read(path).id for path in (paths[0], paths[2], paths[3])]


def test_a_head_that_is_lost_is_made_from_the_record(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = map(Path, run_chunk(cells(1), Order(outputs, FACTS)))
    before = told(path)
    monkeypatch.setattr("experiments.records.store._heads", lambda *_: None)
    assert told(path) == before
    assert told(path, "max(loo_loss)").asked == {
        "max(loo_loss)": read(path).outcome["loo_loss"].values.max()
    }


@pytest.mark.parametrize("name", ["run.json", "arrays.npz"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(
    outputs: Path, misbehaving: None, name: str
) -> None:
    from experiments.cli import main

    assert main(["run", "study=misbehaving", "tracking=off", "figures=false"]) == 0
    (folder,) = RunStore(outputs).folders()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(BadInput, match="not a regular file"):
        read(folder).metrics  # noqa: B018
