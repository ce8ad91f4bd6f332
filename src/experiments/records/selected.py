"""Many runs: each with its rank in the list of them, read in the order in which packs hold them.

A list goes by the ids of runs, which are as good as random, while a pack holds runs in groups, as
they were made. So whoever wants something of all runs looks group by group, and puts what is found
in order by the ranks.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.contract.errors import BadInput
from experiments.records import packed
from experiments.records.reading import read, told, told_of, told_of_group
from experiments.records.store import RunStore
from models.types import AnyArray

_AT_ONCE = 20_000  # runs that are read together where another order is wanted
Fields = dict[str, Any]  # of what is told of a run


class Seen(NamedTuple):
    """A run that was looked at: what is told of it, or why nothing is."""

    rank: int
    place: Path
    id: str
    fields: Fields
    problem: str = ""
    is_alone: bool = False
    has_folder: bool = True  # most runs in packs have none

    @property
    def folder(self) -> Path:
        return self.place / self.id


class _Part(NamedTuple):
    """Runs of a place that are in packs: the rank of each, and its number there."""

    there: packed.Snapshot
    ranks: AnyArray
    numbers: AnyArray


class Selected:
    """Runs of some places, each once."""

    def __init__(self) -> None:
        self._alone: dict[int, Path] = {}  # by rank
        self._parts: list[_Part] = []
        self._end = 0  # of the ranks
        self._whole: set[Path] = set()  # places of which all runs are selected
        self._some: dict[Path, set[str]] = {}  # runs of other places

    def add_places(self, places: Iterable[Path]) -> None:
        """All runs of some places: of each first those in folders, then those in packs."""
        for place in places:
            if place not in self._whole:
                self._add_place(place)

    def _add_place(self, place: Path) -> None:
        self._whole.add(place)
        passed = self._some.get(place, set())
        alone = sorted(path.parent for path in place.glob("[!.]*/run.json"))
        self.add_folders(folder for folder in alone if folder.name not in passed)
        there = packed.at(place).refresh().snapshot()
        numbers = np.arange(len(there.rows))
        passed = passed | {folder.name for folder in alone}
        if passed:
            numbers = np.delete(numbers, there.numbers(passed))
        self._add_part(there, self._end + np.arange(len(numbers)), numbers)
        self._end += len(numbers)

    def add_runs(self, store: RunStore, run_ids: Sequence[str | None]) -> None:
        """These runs, in this order; those that are nowhere are passed over."""
        ranks: dict[str, int] = {}
        for rank, run_id in enumerate(run_ids, self._end):
            if run_id is not None:
                ranks.setdefault(run_id, rank)
        self._end += len(run_ids)
        for place in store.packed_places():
            there = packed.at(place).refresh().snapshot()
            numbers = there.numbers(ranks)
            named = there.ids(numbers)
            fresh = self._fresh(place, named)
            own = np.array([ranks.pop(run_id) for run_id in named], int)
            new = np.array([run_id in fresh for run_id in named], bool)
            self._add_part(there, own[new], numbers[new])
        for run_id, folder in store.alone().items() if ranks else ():
            if run_id in ranks and self._fresh(folder.parent, [run_id]):
                self._alone[ranks[run_id]] = folder

    def add_folders(self, folders: Iterable[Path]) -> None:
        """Runs that are known by their folders, in this order."""
        for rank, folder in enumerate(folders, self._end):
            self._alone[rank] = folder
            self._end = rank + 1

    def _add_part(self, there: packed.Snapshot, ranks: AnyArray, numbers: AnyArray) -> None:
        if len(numbers):
            self._parts.append(_Part(there, ranks, numbers))

    def _fresh(self, place: Path, run_ids: Iterable[str]) -> set[str]:
        """Those runs of a place that were not selected before; now they are."""
        known = self._some.setdefault(place, set())
        fresh = set() if place in self._whole else set(run_ids) - known
        known |= fresh
        return fresh

    def seen(self) -> Iterator[Seen]:
        """What is told of each run, in the order in which that is read."""
        for rank, folder in self._alone.items():
            yield _seen(rank, folder, None)
        for part in self._parts:
            names = _names(part.there.place)
            for span in part.there.by_group(part.numbers):
                yield from _seen_in_group(part, span, names)

    def fields(self, ranks: Iterable[int]) -> Iterator[Seen]:
        """What is told of the runs of these ranks, in their order."""
        waiting = iter(ranks)
        while wanted := list(islice(waiting, _AT_ONCE)):
            found = {
                rank: _seen(rank, self._alone[rank], None) for rank in wanted if rank in self._alone
            }
            for part in self._parts:
                names = _names(part.there.place)
                some = np.flatnonzero(np.isin(part.ranks, wanted))
                for span in part.there.by_group(part.numbers[some]):
                    found |= {one.rank: one for one in _seen_in_group(part, some[span], names)}
            yield from (found[rank] for rank in wanted)


def _seen_in_group(part: _Part, span: AnyArray, names: set[str]) -> Iterator[Seen]:
    """What is told of some runs of a group."""
    there, numbers = part.there, part.numbers[span]
    group = told_of_group(there.entry(int(numbers[0])))
    rows = zip(
        part.ranks[span].tolist(),
        numbers.tolist(),
        there.ids(numbers),
        there.rows["place"][numbers].tolist(),
        strict=True,
    )
    to_judge: list[int] = []
    found: list[Seen] = []
    for rank, number, run_id, place in rows:
        fields = group[place] if group is not None else {}
        if fields.get("id") != run_id:  # nothing is told, or of another run
            found.append(_seen(rank, there.place / run_id, there.entry(number)))
            continue
        found.append(Seen(rank, there.place, run_id, fields, has_folder=run_id in names))
        if fields["claims"] and fields["finished"]:
            to_judge.append(number)
    yield from _readable(there, to_judge, found) if to_judge else found


def _readable(there: packed.Snapshot, numbers: list[int], group: list[Seen]) -> Iterator[Seen]:
    """The same runs; of those whose claims will be judged, a record that is damaged is told."""
    answers = zip(there.ids(np.array(numbers)), there.sound(numbers), strict=True)
    torn = {run_id for run_id, sound in answers if not sound}
    for one in group:
        if one.id in torn:
            try:
                read(one.folder)
            except BadInput as error:
                yield one._replace(problem=str(error))
                continue
        yield one


def _seen(rank: int, folder: Path, entry: packed.Entry | None) -> Seen:
    """What is told of a run that is looked at alone."""
    try:
        found = told(folder) if entry is None else told_of(entry, folder, None)
    except BadInput as error:
        return Seen(rank, folder.parent, folder.name, {}, str(error))
    return Seen(rank, folder.parent, folder.name, vars(found), is_alone=entry is None)


def _names(place: Path) -> set[str]:
    """What has a folder of its own in a place."""
    with suppress(OSError), os.scandir(place) as entries:
        return {entry.name for entry in entries}
    return set()
