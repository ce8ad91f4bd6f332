"""Records that are read: only what was written there."""

import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from experiments.configuration.jobs import Job
from experiments.contract.errors import BadInput
from experiments.records import packed, seal
from experiments.records.reading import read, told
from experiments.records.store import RunStore
from experiments.running.provenance import environment
from experiments.running.work import Order, perform, run_chunk

FACTS = environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


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


def test_a_damaged_pack_costs_a_line_and_what_it_hit(outputs: Path, cells: list[Job]) -> None:
    store, jobs = RunStore(outputs), cells[:4]
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
    outputs: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = map(Path, run_chunk([job], Order(outputs, FACTS)))
    before = told(path)
    monkeypatch.setattr("experiments.records.reading._heads", lambda *_: None)
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
