"""Records of runs: whole or not at all, never overwritten.

A run is named after its key and an attempt: `3f2a9c...-1`. A run that was asked for alone has a
folder of that name; the cells of sweeps share packs (see `packs`), and such a folder is only their
address, made when somebody puts figures or tags there. Equal keys mean equal bits, so a process
that finds a run already there lost a harmless race and adopts what it finds. Whether something is
done is a look at the files; there is no index beside them that could disagree.
"""

import io
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from experiments.configuration.jobs import Address, Job
from experiments.configuration.paths import stays_in
from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.records import packed
from experiments.records.drafts import Draft, Group, drafted
from experiments.records.locks import exclusive
from experiments.records.reading import first_finished, is_older, read, told_of
from experiments.records.record import KEPT, Record, digest
from experiments.records.told import Told

T = TypeVar("T")
_AT_ONCE = 1000  # runs that are looked at together


class Found(NamedTuple):
    """A run that is there, and as much of it as had to be read to know that."""

    folder: Path
    told: Told | None = None
    record: Record | None = None


class RunStore:
    """The runs below an outputs folder."""

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.runs = outputs / "runs"

    def place(self, job: Job) -> Path:
        """The folder of a job's attempts: the book's result, or the study for anything else."""
        return self.runs / job.address.place

    def done(self, job: Job) -> Record | None:
        """The newest finished attempt with the job's key."""
        return first_finished(reversed(self._attempts(job)))

    def _attempts(self, job: Job) -> list[Path]:
        """The attempts at a key, oldest first: a few look-ups, however many runs there are."""
        place = self.place(job)
        return [
            place / f"{job.key}-{number}" for number in packed.at(place).refresh().numbers(job.key)
        ]

    def finished(
        self, addresses: Iterable[Address], metric: str | None = None
    ) -> Iterator["Found | None"]:
        """The newest finished run at each address, if there is one.

        A packed record is not read for that: its digest says that it is what was written.
        """
        looks: dict[str, _Look] = {}
        for part in _batches(addresses, _AT_ONCE):
            for address in part:
                if address.place not in looks:
                    looks[address.place] = _Look(self.runs / address.place)
            found = [looks[address.place].newest(address.key) for address in part]
            sound = {
                entry.id: answer
                for look in looks.values()
                for mine in [[e for e in found if e is not None and e.path.parent == look.folder]]
                for entry, answer in zip(mine, look.packed.sound(mine), strict=True)
            }
            for address, entry in zip(part, found, strict=True):
                place = self.runs / address.place
                if entry is not None and sound[entry.id]:
                    folder = place / entry.id
                    yield Found(folder, told_of(entry, folder, metric))
                    continue
                record = None
                if entry is not None or looks[address.place].has_folder(address.key):
                    numbers = looks[address.place].packed.numbers(address.key)
                    record = first_finished(place / f"{address.key}-{n}" for n in numbers[::-1])
                yield Found(record.folder, record=record) if record is not None else None

    def write(
        self,
        job: Job,
        provenance: dict[str, Any],
        *,
        outcome: Outcome | None = None,
        error: dict[str, str] | None = None,
        adopt: bool = True,
    ) -> Record:
        """Record a run in a folder: write aside, then rename. Adopt an equal run that was first.

        The new name is the one after all attempts that were looked at, and nobody can take it
        unnoticed: so no finished run slips in between the look and the rename.
        """
        draft = drafted(self.place(job), job, provenance, outcome=outcome, error=error)
        place = stays_in(self.outputs, draft.place)
        place.mkdir(parents=True, exist_ok=True)
        aside = place / f".writing-{uuid.uuid4().hex}"  # as open to others as their umask says
        aside.mkdir()
        digests: dict[str, str] = {}
        try:
            if draft.large:
                stream = io.BytesIO()
                named = {f"{KEPT}{name}": array for name, array in draft.large.items()}
                np.savez(stream, allow_pickle=False, **named)
                (aside / "arrays.npz").write_bytes(stream.getvalue())
                digests["arrays.npz"] = digest(stream.getvalue())
            while True:
                attempts = self._attempts(job)
                if adopt and not error and (there := first_finished(reversed(attempts))):
                    return there
                run_id = f"{job.key}-{_after(attempts)}"
                content = draft.numbered(run_id, digests)
                (aside / "run.json").write_text(draft.sealed(content), encoding="utf-8")
                if _renamed(aside, place / run_id):
                    return Record(place / run_id, content)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def write_all(
        self, drafts: Sequence[Draft], *, adopt: bool = True, metric: str | None = None
    ) -> list[Path]:
        """Record runs in packs, all of a place at once, and onto the disk; where each is."""
        found: dict[int, Path] = {}
        places: dict[Path, list[int]] = {}
        for number, draft in enumerate(drafts):
            places.setdefault(draft.place, []).append(number)
        for place, numbers in places.items():
            stays_in(self.outputs, place / packed.FOLDER)
            there = packed.at(place)
            group = Group([drafts[number] for number in numbers], there, metric, adopt=adopt)
            there.append([drafts[number].key for number in numbers], group.made)
            found |= zip(numbers, group.folders, strict=True)
        return [found[number] for number in range(len(drafts))]

    def latest(self, experiment: str) -> Record | None:
        """The newest finished run of an experiment as its file stated it at the time."""
        folders = [p for p in (self.runs / experiment).glob("[!.]*") if (p / "run.json").exists()]
        newest_first = sorted(folders, key=lambda p: (p / "run.json").stat().st_mtime_ns)[::-1]
        return first_finished(newest_first)

    def folders(self, pattern: str = "*/*") -> Iterator[Path]:
        """Where every run is, of all places or of some; packed ones too."""
        for place in self.places(pattern):
            yield from sorted(path.parent for path in place.glob("[!.]*/run.json"))
            for run_id in packed.at(place).refresh().ids():
                yield place / run_id

    def located(self, run_ids: Iterable[str | None]) -> Iterator[Path | None]:
        """Where each of these runs is; None for those that are nowhere."""
        there = [packed.at(place).refresh() for place in self.packed_places()]
        folders: dict[str, Path] | None = None
        for run_id in run_ids:
            place = next((p.place for p in there if run_id is not None and p.find(run_id)), None)
            if place is None and run_id is not None:
                folders = self.alone() if folders is None else folders
                yield folders.get(run_id)
            else:
                yield place / run_id if place is not None and run_id is not None else None

    def places(self, pattern: str = "*/*") -> list[Path]:
        """The folders of runs: of results and of studies."""
        return sorted(self.runs.glob(pattern))

    def packed_places(self) -> list[Path]:
        """Those that have packs."""
        return [folder.parent for folder in self.places(f"*/*/{packed.FOLDER}")]

    def alone(self) -> dict[str, Path]:
        """The runs that have a record in a folder of their own, by id."""
        found = self.runs.glob("*/*/[!.]*/run.json")
        return {path.parent.name: path.parent for path in found}

    def damage(self) -> Iterator[str]:
        """A line for each part of a pack that is damaged."""
        for place in self.packed_places():
            yield from packed.at(place).refresh().problems

    def older(self, pattern: str) -> int:
        """How many runs of these experiments were recorded in an older format."""
        return sum(is_older(path.parent) for path in self.runs.glob(f"{pattern}/[!.]*/run.json"))

    def find(self, run_id: str) -> Record:
        """A run by its id or the beginning of it."""
        if not run_id or not all(c in "0123456789abcdef-" for c in run_id):
            raise BadInput(
                f"'{run_id}' is not a run id; allowed: hexadecimal digits and an attempt"
            )
        found = [path.parent for path in self.runs.glob(f"*/*/{run_id}*/run.json")]
        for place in self.packed_places():
            there = packed.at(place).refresh()
            found += [place / name for name in islice(there.ids(run_id), 1000)]
        exact = [path for path in found if path.name == run_id]
        if len(exact or found) == 1:
            return read((exact or found)[0])
        if found:
            raise BadInput(f"'{run_id}' fits {len(found)} runs: {_some(found)}")
        raise BadInput(f"there is no run '{run_id}' below {self.runs}")

    def sweep_leftovers(self) -> None:
        """Remove what interrupted writes left aside, an hour after they stopped."""
        newest = time.time() - 3600
        for path in self.runs.glob("*/*/.writing-*"):
            with suppress(OSError):  # it is gone already, or not ours to remove
                if path.stat().st_mtime < newest:
                    shutil.rmtree(path)


class _Look:
    """A place, looked at once for many keys."""

    def __init__(self, place: Path) -> None:
        self.packed = packed.at(place).refresh()
        self.folder = self.packed.folder
        try:
            self._names = {entry.name for entry in os.scandir(place)}
        except FileNotFoundError:
            self._names = set()

    def has_folder(self, key: str) -> bool:
        """Is one of the attempts at a key in a folder?"""
        after = max((entry.attempt for entry in self.packed.attempts(key)), default=0) + 1
        return any(f"{key}-{number}" in self._names for number in {1, after})

    def newest(self, key: str) -> packed.Entry | None:
        """The newest run in a pack that finished, unless a folder holds another."""
        entries = self.packed.attempts(key)
        if not entries or self.has_folder(key):
            return None
        return next((entry for entry in reversed(entries) if entry.finished), None)


def _after(attempts: Sequence[Path]) -> int:
    """The number of the next attempt."""
    return max((int(path.name.rpartition("-")[2]) for path in attempts), default=0) + 1


def _renamed(aside: Path, target: Path) -> bool:
    """Give a run its name, unless somebody took it: a rename, or a pack whose writer has a lock."""
    shared = target.parent.parent.name == "study"  # no other place has packs
    with exclusive(target.parent / packed.LOCK) if shared else nullcontext():
        if shared and packed.at(target.parent).refresh().find(target.name) is not None:
            return False
        try:
            aside.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            return False
    return True


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    waiting = iter(items)
    while part := list(islice(waiting, size)):
        yield part


def _some(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:4])
    return shown + (", ..." if len(paths) > 4 else "")
