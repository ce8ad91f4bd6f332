"""Many runs: read group by group, and each of them what it is when it is read alone."""

from pathlib import Path

import pytest

from experiments.configuration.jobs import Job
from experiments.records import packed, told
from experiments.records.drafts import drafted
from experiments.records.reading import read
from experiments.records.record import Record
from experiments.records.selected import Seen, Selected
from experiments.records.store import RunStore
from experiments.records.told import Told
from experiments.running.provenance import environment
from experiments.running.work import compute

FACTS = environment() | {"seconds": 0.0, "cpu_seconds": 0.0}


def put(outputs: Path, cells: list[Job], started: float, process: packed.Packed) -> list[str]:
    """Record cells in a pack, as a process of its own would."""
    store = RunStore(outputs)
    drafts = [
        drafted(store.place(job), job, {**FACTS, "started": started}, outcome=compute(job).outcome)
        for job in cells
    ]
    process.refresh()
    packed.at(process.place)._writer = process._writer
    found = [folder.name for folder in store.write_all(drafts)]
    process._writer = packed.at(process.place)._writer
    packed.at(process.place)._writer = None
    return found


@pytest.fixture
def mixed(outputs: Path, recorded: Record, cells: list[Job]) -> Path:
    """Runs in packs of two processes whose clocks differ, beside runs in folders."""
    place = RunStore(outputs).place(cells[0])
    first, second = packed.Packed(place), packed.Packed(place)
    put(outputs, cells[:2], 3000.0, first)
    put(outputs, cells[2:3], 1000.0, second)
    RunStore(outputs).write(
        cells[3], {**FACTS, "started": 2000.0}, outcome=compute(cells[3]).outcome
    )
    put(outputs, cells[4:5], 3000.0, first)
    put(outputs, cells[5:], 500.0, second)
    assert len(list((place / "cells").iterdir())) == 2
    return outputs


def of_all(outputs: Path) -> Selected:
    found = Selected()
    found.add_places(RunStore(outputs).places())
    return found


def ranked(selected: Selected) -> list[Seen]:
    return sorted(selected.seen())


def check(found: list[Seen], folders: list[Path]) -> None:
    """They are the runs of these folders, in this order, and what their records say."""
    assert [one.folder for one in found] == folders
    for one in found:
        assert one.fields == vars(Told.of(read(one.folder)))
        assert (one.id, one.problem) == (one.folder.name, "")


def test_every_run_is_what_its_record_says(mixed: Path) -> None:
    folders = list(RunStore(mixed).folders())
    assert len(folders) == 7
    check(ranked(of_all(mixed)), folders)


def test_what_is_told_by_other_evaluators_is_read_again(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "evaluators", lambda: 1)
    check(ranked(of_all(mixed)), list(RunStore(mixed).folders()))


def test_some_can_be_had_in_any_order(mixed: Path) -> None:
    selected = of_all(mixed)
    by_rank = {one.rank: one for one in selected.seen()}
    for order in (list(by_rank), sorted(by_rank), sorted(by_rank)[::-2]):
        assert [one.id for one in selected.fields(order)] == [by_rank[rank].id for rank in order]


def test_each_is_selected_once_where_it_is_named_first(mixed: Path) -> None:
    store = RunStore(mixed)
    folders = list(store.folders())
    named = [folders[4].name, None, folders[1].name, "sweep-1", folders[4].name, "f" * 16 + "-1"]
    found = Selected()
    found.add_runs(store, named)
    found.add_runs(store, [folders[1].name, folders[5].name])
    first = [folders[4], folders[1], folders[5]]
    check(ranked(found), first)
    found.add_places(store.places())
    found.add_places(store.places("study/*"))
    found.add_runs(store, [folders[2].name])
    check(ranked(found), first + [folder for folder in folders if folder not in first])


def test_a_run_that_is_in_two_packs_is_one(mixed: Path) -> None:
    folders = list(RunStore(mixed).folders())
    pack = next((folders[-1].parent / "cells").iterdir())
    pack.with_name("0.pack").write_bytes(pack.read_bytes())
    check(ranked(of_all(mixed)), folders)


def test_a_damaged_record_is_told_where_its_claims_will_be_judged(outputs: Path) -> None:
    from experiments.configuration.build import experiment_job

    stated = experiment_job("fcml/fig-1.15")
    jobs = [Job(stated.study, seed, stated.printed, stated.experiment) for seed in (1, 2)]
    place = RunStore(outputs).place(jobs[0])
    hit, whole = put(outputs, jobs, 0.0, packed.Packed(place))
    entry = packed.at(place).refresh().find(hit)
    assert entry is not None
    content = bytearray(entry.path.read_bytes())
    content[entry.start + entry.size - 3] ^= 255
    entry.path.write_bytes(content)
    found = {one.id: one for one in of_all(outputs).seen()}
    assert "passed over" in found[hit].problem
    assert found[whole].problem == ""
