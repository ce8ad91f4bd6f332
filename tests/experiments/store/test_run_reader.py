"""Readers of records: invalid and corrupt ones are refused."""

import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import RunOptions, run_and_record, run_chunk
from bythebook.experiments.store import packed, run_json
from bythebook.experiments.store.run_reader import load_summary, read_run
from bythebook.experiments.store.run_store import RunStore

FACTS = collect_environment() | {"started": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}


def test_a_record_of_another_format_is_refused(outputs: Path, job: Job) -> None:
    record = run_and_record(job, RunOptions(outputs, FACTS))
    path = record.folder / "run.json"
    path.write_text(path.read_text().replace('"format": 3', '"format": 99'))
    with pytest.raises(InputError, match="it has format 99; allowed: 3"):
        read_run(record.folder)
    path.write_text("{")
    with pytest.raises(InputError, match="it is truncated"):
        read_run(record.folder)


def test_arrays_are_never_unpickled(outputs: Path, job: Job) -> None:
    record = run_and_record(job, RunOptions(outputs, FACTS))
    path = record.folder / "arrays.npz"
    np.savez(path, x=np.array([object()], dtype=object))
    with pytest.raises(InputError, match=r"checksum of arrays.npz does not match"):
        _ = read_run(record.folder).outcome
    digests = {**record["digests"], "arrays.npz": sha256(path.read_bytes()).hexdigest()}
    (record.folder / "run.json").write_text(
        run_json.add_checksum({**record.content, "digests": digests})
    )
    with pytest.raises(InputError, match="allow_pickle=False"):
        _ = read_run(record.folder).outcome


def test_an_edited_record_is_refused(outputs: Path, job: Job) -> None:
    record = run_and_record(job, RunOptions(outputs, FACTS))
    path = record.folder / "run.json"
    value = repr(record.outcome["training_loss"].sel(order=2).item)
    text = path.read_text()
    path.write_text(text.replace(value, "0.5"))
    with pytest.raises(InputError, match="is invalid: its checksum does not match"):
        read_run(record.folder)
    outcome = {**record["outcome"], "forged": 1}
    path.write_text(run_json.add_checksum({**record.content, "outcome": outcome}))
    with pytest.raises(InputError, match="checksum of outcome does not match"):
        _ = read_run(record.folder).outcome
    (record.folder / "arrays.npz").unlink()
    path.write_text(text)
    with pytest.raises(InputError, match=r"arrays.npz could not be read"):
        _ = read_run(record.folder).outcome


def test_a_corrupt_pack_affects_the_corrupt_runs_only(outputs: Path, cells: list[Job]) -> None:
    store, jobs = RunStore(outputs), cells[:4]
    paths = [Path(path) for path in run_chunk(jobs, RunOptions(outputs, FACTS))]
    entry = packed.at(paths[1].parent).find(paths[1].name)
    assert entry is not None
    with entry.path.open("r+b") as stream:
        stream.seek(entry.start + entry.size // 2)
        stream.write(b"\0\0\0\0")
    with pytest.raises(InputError, match=rf"{paths[1].name} in .*pack is invalid"):
        read_run(paths[1])
    assert store.find_completed(jobs[1]) is None
    found = list(store.find_all_completed(job.location for job in jobs))
    assert [entry is not None for entry in found] == [True, False, True, True]
    (again,) = run_chunk([jobs[1]], RunOptions(outputs, FACTS))
    assert Path(again).name == f"{jobs[1].key}-2"
    assert list(store.corruption_report()) == []
    content = entry.path.read_bytes()
    entry.path.write_bytes(content[:30] + b"\0\0\0\0" + content[34:])
    packed.at.cache_clear()
    (line,) = store.corruption_report()
    assert "is damaged" in line
    assert "3 runs were found" in line
    assert [read_run(path).id for path in (paths[0], paths[2], paths[3])]


def test_a_lost_summary_is_rebuilt_from_the_record(
    outputs: Path, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = map(Path, run_chunk([job], RunOptions(outputs, FACTS)))
    before = load_summary(path)
    monkeypatch.setattr("bythebook.experiments.store.run_reader._summaries", lambda *_: None)
    assert load_summary(path) == before
    assert load_summary(path, "max(loo_loss)").extra_metrics == {
        "max(loo_loss)": read_run(path).outcome["loo_loss"].values.max()
    }


@pytest.mark.parametrize("name", ["run.json", "arrays.npz"])
def test_a_pipe_instead_of_a_file_is_refused_without_blocking(
    outputs: Path, misbehaving: None, name: str
) -> None:
    from bythebook.experiments.cli.main import main

    assert main(["run", "study=misbehaving", "tracking=off", "figures=false"]) == 0
    (folder,) = RunStore(outputs).folders()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(InputError, match="not a regular file"):
        read_run(folder).metrics  # noqa: B018
