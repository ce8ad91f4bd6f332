"""The index of runs: reading by group gives the same summaries as reading one by one."""

from pathlib import Path

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.execution.provenance import collect_environment
from bythebook.experiments.execution.worker import compute
from bythebook.experiments.store import packed, run_summary
from bythebook.experiments.store.pending_runs import make_pending
from bythebook.experiments.store.record import Record
from bythebook.experiments.store.run_index import IndexedRun, RunIndex
from bythebook.experiments.store.run_reader import read_run
from bythebook.experiments.store.run_store import RunStore
from bythebook.experiments.store.run_summary import RunSummary

FACTS = collect_environment() | {"seconds": 0.0, "cpu_seconds": 0.0}


def put(outputs: Path, jobs: list[Job], started: float, process: packed.Packed) -> list[str]:
    """Record runs in the pack of a separate process."""
    store = RunStore(outputs)
    runs = [
        make_pending(
            store.run_dir(job), job, {**FACTS, "started": started}, outcome=compute(job).outcome
        )
        for job in jobs
    ]
    process.refresh()
    packed.at(process.place)._writer = process._writer
    found = [folder.name for folder in store.save_many(runs)]
    process._writer = packed.at(process.place)._writer
    packed.at(process.place)._writer = None
    return found


@pytest.fixture
def mixed(outputs: Path, recorded: Record, cells: list[Job]) -> Path:
    """Runs in packs of two processes with different clocks, and a run in a folder."""
    location = RunStore(outputs).run_dir(cells[0])
    first, second = packed.Packed(location), packed.Packed(location)
    put(outputs, cells[:2], 3000.0, first)
    put(outputs, cells[2:3], 1000.0, second)
    RunStore(outputs).save(
        cells[3], {**FACTS, "started": 2000.0}, outcome=compute(cells[3]).outcome
    )
    put(outputs, cells[4:5], 3000.0, first)
    put(outputs, cells[5:], 500.0, second)
    assert len(list((location / "cells").iterdir())) == 2
    return outputs


def index_all(outputs: Path) -> RunIndex:
    index = RunIndex()
    index.add_locations(RunStore(outputs).run_dirs())
    return index


def ranked(index: RunIndex) -> list[IndexedRun]:
    return sorted(index.runs())


def check(found: list[IndexedRun], folders: list[Path]) -> None:
    """The runs have these folders in this order, and the fields of their records."""
    assert [run.folder for run in found] == folders
    for run in found:
        assert run.fields == vars(RunSummary.from_record(read_run(run.folder)))
        assert (run.id, run.problem) == (run.folder.name, "")


def test_every_run_has_the_fields_of_its_record(mixed: Path) -> None:
    folders = list(RunStore(mixed).folders())
    assert len(folders) == 7
    check(ranked(index_all(mixed)), folders)


def test_summaries_of_other_code_are_rebuilt_from_records(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_summary, "evaluation_checksum", lambda: 1)
    check(ranked(index_all(mixed)), list(RunStore(mixed).folders()))


def test_runs_can_be_read_in_any_order(mixed: Path) -> None:
    index = index_all(mixed)
    by_rank = {run.rank: run for run in index.runs()}
    for order in (list(by_rank), sorted(by_rank), sorted(by_rank)[::-2]):
        assert [run.id for run in index.by_rank(order)] == [by_rank[rank].id for rank in order]


def test_each_run_is_selected_once_at_its_first_rank(mixed: Path) -> None:
    store = RunStore(mixed)
    folders = list(store.folders())
    run_ids = [folders[4].name, None, folders[1].name, "sweep-1", folders[4].name, "f" * 16 + "-1"]
    found = RunIndex()
    found.add_runs(store, run_ids)
    found.add_runs(store, [folders[1].name, folders[5].name])
    first = [folders[4], folders[1], folders[5]]
    check(ranked(found), first)
    found.add_locations(store.run_dirs())
    found.add_locations(store.run_dirs("study/*"))
    found.add_runs(store, [folders[2].name])
    check(ranked(found), first + [folder for folder in folders if folder not in first])


def test_a_run_in_two_packs_is_selected_once(mixed: Path) -> None:
    folders = list(RunStore(mixed).folders())
    pack = next((folders[-1].parent / "cells").iterdir())
    pack.with_name("0.pack").write_bytes(pack.read_bytes())
    check(ranked(index_all(mixed)), folders)


def test_a_corrupt_record_with_claims_has_a_problem(outputs: Path) -> None:
    from bythebook.experiments.config.validation import load_job

    book = load_job("fcml/fig-1.15")
    jobs = [Job(book.study, seed, book.published, book.experiment) for seed in (1, 2)]
    location = RunStore(outputs).run_dir(jobs[0])
    corrupt, intact = put(outputs, jobs, 0.0, packed.Packed(location))
    entry = packed.at(location).refresh().find(corrupt)
    assert entry is not None
    content = bytearray(entry.path.read_bytes())
    content[entry.start + entry.size - 3] ^= 255
    entry.path.write_bytes(content)
    found = {run.id: run for run in index_all(outputs).runs()}
    assert "is invalid: " in found[corrupt].problem
    assert found[intact].problem == ""
