"""Index of selected runs: each run has a rank, and summaries are read in the order of the packs.

Lists are ordered by run id, which is a hash, while a pack stores runs in groups in the order of
their computation. A scan of all runs therefore reads group by group, and the ranks restore the
order of the list.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store import packed
from bythebook.experiments.store.run_reader import (
    load_summaries,
    load_summary,
    read_run,
    summary_from_entry,
)
from bythebook.experiments.store.run_store import RunStore
from bythebook.models.types import AnyArray

_BATCH_SIZE = 20_000  # runs that are read together by rank
RunFields = dict[str, Any]  # the fields of a run's summary


class IndexedRun(NamedTuple):
    """A run of the index: the fields of its summary, or the reason why it has none."""

    rank: int
    location: Path  # the folder of its job's runs
    id: str
    fields: RunFields
    problem: str = ""
    is_standalone: bool = False
    has_folder: bool = True  # False for most runs in packs

    @property
    def folder(self) -> Path:
        """The folder of the run, which may exist only as an address."""
        return self.location / self.id


class _Part(NamedTuple):
    """Packed runs of one location, with their ranks and row numbers."""

    snapshot: packed.Snapshot
    ranks: AnyArray
    numbers: AnyArray


class RunIndex:
    """A selection of runs without duplicates."""

    def __init__(self) -> None:
        self._standalone: dict[int, Path] = {}  # folders by rank
        self._parts: list[_Part] = []
        self._next_rank = 0
        self._complete: set[Path] = set()  # locations of which all runs are selected
        self._selected: dict[Path, set[str]] = {}  # run ids of other locations

    def add_locations(self, locations: Iterable[Path]) -> None:
        """Add all runs of some locations: of each first those in folders, then those in packs."""
        for location in locations:
            if location not in self._complete:
                self._add_location(location)

    def _add_location(self, location: Path) -> None:
        self._complete.add(location)
        skipped = self._selected.get(location, set())
        standalone = sorted(path.parent for path in location.glob("[!.]*/run.json"))
        self.add_folders(folder for folder in standalone if folder.name not in skipped)
        snapshot = packed.at(location).refresh().snapshot()
        numbers = np.arange(len(snapshot.rows))
        skipped = skipped | {folder.name for folder in standalone}
        if skipped:
            numbers = np.delete(numbers, snapshot.numbers(skipped))
        self._add_part(snapshot, self._next_rank + np.arange(len(numbers)), numbers)
        self._next_rank += len(numbers)

    def add_runs(self, store: RunStore, run_ids: Sequence[str | None]) -> None:
        """Add runs by id, in this order; unknown ids are ignored."""
        ranks: dict[str, int] = {}
        for rank, run_id in enumerate(run_ids, self._next_rank):
            if run_id is not None:
                ranks.setdefault(run_id, rank)
        self._next_rank += len(run_ids)
        for location in store.packed_dirs():
            snapshot = packed.at(location).refresh().snapshot()
            numbers = snapshot.numbers(ranks)
            ids = snapshot.ids(numbers)
            new_ids = self._select_new(location, ids)
            own_ranks = np.array([ranks.pop(run_id) for run_id in ids], int)
            is_new = np.array([run_id in new_ids for run_id in ids], bool)
            self._add_part(snapshot, own_ranks[is_new], numbers[is_new])
        for run_id, folder in store.standalone_runs().items() if ranks else ():
            if run_id in ranks and self._select_new(folder.parent, [run_id]):
                self._standalone[ranks[run_id]] = folder

    def add_folders(self, folders: Iterable[Path]) -> None:
        """Add runs by their folders, in this order."""
        for rank, folder in enumerate(folders, self._next_rank):
            self._standalone[rank] = folder
            self._next_rank = rank + 1

    def _add_part(self, snapshot: packed.Snapshot, ranks: AnyArray, numbers: AnyArray) -> None:
        if len(numbers):
            self._parts.append(_Part(snapshot, ranks, numbers))

    def _select_new(self, location: Path, run_ids: Iterable[str]) -> set[str]:
        """Select some runs of a location, and return those that were not selected before."""
        selected = self._selected.setdefault(location, set())
        new_ids = set() if location in self._complete else set(run_ids) - selected
        selected |= new_ids
        return new_ids

    def runs(self) -> Iterator[IndexedRun]:
        """All runs, in the order in which they are read."""
        for rank, folder in self._standalone.items():
            yield _read_one(rank, folder, None)
        for part in self._parts:
            names = _folder_names(part.snapshot.place)
            for span in part.snapshot.by_group(part.numbers):
                yield from _read_group(part, span, names)

    def by_rank(self, ranks: Iterable[int]) -> Iterator[IndexedRun]:
        """The runs of these ranks, in this order."""
        remaining = iter(ranks)
        while batch := list(islice(remaining, _BATCH_SIZE)):
            runs = {
                rank: _read_one(rank, self._standalone[rank], None)
                for rank in batch
                if rank in self._standalone
            }
            for part in self._parts:
                names = _folder_names(part.snapshot.place)
                indices = np.flatnonzero(np.isin(part.ranks, batch))
                for span in part.snapshot.by_group(part.numbers[indices]):
                    runs |= {run.rank: run for run in _read_group(part, indices[span], names)}
            yield from (runs[rank] for rank in batch)


def _read_group(part: _Part, span: AnyArray, names: set[str]) -> Iterator[IndexedRun]:
    """Some runs of one group, from the summaries of the group."""
    snapshot, numbers = part.snapshot, part.numbers[span]
    group = load_summaries(snapshot.entry(int(numbers[0])))
    rows = zip(
        part.ranks[span].tolist(),
        numbers.tolist(),
        snapshot.ids(numbers),
        snapshot.rows["place"][numbers].tolist(),
        strict=True,
    )
    to_judge: list[int] = []
    runs: list[IndexedRun] = []
    for rank, number, run_id, index in rows:
        fields = group[index] if group is not None else {}
        if fields.get("id") != run_id:  # the summary is missing, or of another run
            runs.append(_read_one(rank, snapshot.place / run_id, snapshot.entry(number)))
            continue
        runs.append(IndexedRun(rank, snapshot.place, run_id, fields, has_folder=run_id in names))
        if fields["claims"] and fields["finished"]:
            to_judge.append(number)
    yield from _with_problems(snapshot, to_judge, runs) if to_judge else runs


def _with_problems(
    snapshot: packed.Snapshot, numbers: list[int], runs: list[IndexedRun]
) -> Iterator[IndexedRun]:
    """The runs, with the problem of each corrupt record whose claims would be judged."""
    checks = zip(snapshot.ids(np.array(numbers)), snapshot.sound(numbers), strict=True)
    corrupt = {run_id for run_id, sound in checks if not sound}
    for run in runs:
        if run.id in corrupt:
            try:
                read_run(run.folder)
            except InputError as error:
                yield run._replace(problem=str(error))
                continue
        yield run


def _read_one(rank: int, folder: Path, entry: packed.Entry | None) -> IndexedRun:
    """One run, from its summary or its record."""
    try:
        summary = load_summary(folder) if entry is None else summary_from_entry(entry, folder, None)
    except InputError as error:
        return IndexedRun(rank, folder.parent, folder.name, {}, str(error))
    return IndexedRun(rank, folder.parent, folder.name, vars(summary), is_standalone=entry is None)


def _folder_names(location: Path) -> set[str]:
    """The names of the folders of a location."""
    with suppress(OSError), os.scandir(location) as entries:
        return {entry.name for entry in entries}
    return set()
