"""Store of recorded runs: atomic writes, and look-up by key or run id.

The id of a run is its key and the number of an attempt: 0123456789abcdef-1. A single run has a
folder of that name. The runs of sweeps share packs (see `packs`); their folder exists only if
figures, tables or tags were added. A record is never overwritten. Runs with equal keys have
identical outcomes, so a process that finds a finished run with its key uses that one instead. The
files are the only state: there is no separate index that could disagree with them.
"""

import io
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bythebook.experiments.config.job import Job, RunLocation
from bythebook.experiments.config.paths import check_inside
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.store import packed
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.experiments.store.pending_runs import PendingBatch, PendingRun, make_pending
from bythebook.experiments.store.record import ARRAY_PREFIX, Record, sha256_hex
from bythebook.experiments.store.run_reader import (
    first_completed,
    has_older_format,
    read_run,
    summary_from_entry,
)
from bythebook.experiments.store.run_summary import RunSummary

T = TypeVar("T")
_BATCH_SIZE = 1000  # runs that are looked up together


class StoredRun(NamedTuple):
    """A recorded run, with its summary or record if that was read to find it."""

    folder: Path
    summary: RunSummary | None = None
    record: Record | None = None


class RunStore:
    """The runs of an outputs folder."""

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.runs = outputs / "runs"

    def run_dir(self, job: Job) -> Path:
        """The folder of a job's runs: that of its result, or of its study."""
        return self.runs / job.location.folder

    def find_completed(self, job: Job) -> Record | None:
        """The latest finished run with the job's key."""
        return first_completed(reversed(self._attempts(job)))

    def _attempts(self, job: Job) -> list[Path]:
        """The folders of all runs with the job's key, oldest first."""
        folder = self.run_dir(job)
        numbers = packed.at(folder).refresh().numbers(job.key)
        return [folder / f"{job.key}-{number}" for number in numbers]

    def find_all_completed(
        self, locations: Iterable[RunLocation], metric: str | None = None
    ) -> Iterator["StoredRun | None"]:
        """The latest finished run at each location; None where there is none.

        The record of a packed run is not parsed, only its digest is checked.
        """
        listings: dict[str, _FolderListing] = {}
        for batch in _batches(locations, _BATCH_SIZE):
            for location in batch:
                if location.folder not in listings:
                    listings[location.folder] = _FolderListing(self.runs / location.folder)
            entries = [listings[location.folder].latest(location.key) for location in batch]
            is_valid = {
                entry.id: valid
                for listing in listings.values()
                for own in [[e for e in entries if e and e.path.parent == listing.folder]]
                for entry, valid in zip(own, listing.packed.sound(own), strict=True)
            }
            for location, entry in zip(batch, entries, strict=True):
                folder = self.runs / location.folder
                if entry is not None and is_valid[entry.id]:
                    run = folder / entry.id
                    yield StoredRun(run, summary_from_entry(entry, run, metric))
                    continue
                record = None
                listing = listings[location.folder]
                if entry is not None or listing.has_folder(location.key):
                    numbers = listing.packed.numbers(location.key)
                    record = first_completed(folder / f"{location.key}-{n}" for n in numbers[::-1])
                yield StoredRun(record.folder, record=record) if record is not None else None

    def save(
        self,
        job: Job,
        provenance: dict[str, Any],
        *,
        outcome: Outcome | None = None,
        error: dict[str, str] | None = None,
        equations: Mapping[str, Any] | None = None,
        adopt: bool = True,
    ) -> Record:
        """Record a run in a folder, or return a finished run with the same key (`adopt`).

        The run is written to a temporary folder, which is renamed to the number after all known
        attempts. The rename fails if another process took that number, so that no finished run is
        missed between the look-up and the rename.
        """
        run = make_pending(
            self.run_dir(job), job, provenance, outcome=outcome, error=error, equations=equations
        )
        folder = check_inside(self.outputs, run.folder)
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".writing-{uuid.uuid4().hex}"  # tempfile would ignore the umask
        temporary.mkdir()
        digests: dict[str, str] = {}
        try:
            if run.large_arrays:
                stream = io.BytesIO()
                named = {f"{ARRAY_PREFIX}{name}": array for name, array in run.large_arrays.items()}
                np.savez(stream, allow_pickle=False, **named)
                (temporary / "arrays.npz").write_bytes(stream.getvalue())
                digests["arrays.npz"] = sha256_hex(stream.getvalue())
            while True:
                attempts = self._attempts(job)
                if adopt and not error and (record := first_completed(reversed(attempts))):
                    return record
                run_id = f"{job.key}-{_next_attempt(attempts)}"
                content = run.with_run_id(run_id, digests)
                (temporary / "run.json").write_text(run.to_text(content), encoding="utf-8")
                if _rename_into_place(temporary, folder / run_id):
                    return Record(folder / run_id, content)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def save_many(
        self, runs: Sequence[PendingRun], *, adopt: bool = True, metric: str | None = None
    ) -> list[Path]:
        """Record runs in packs, flushed to the disk, and return the folder of each run."""
        folders: dict[int, Path] = {}
        by_location: dict[Path, list[int]] = {}
        for number, run in enumerate(runs):
            by_location.setdefault(run.folder, []).append(number)
        for location, numbers in by_location.items():
            check_inside(self.outputs, location / packed.FOLDER)
            stored = packed.at(location)
            batch = PendingBatch([runs[number] for number in numbers], stored, metric, adopt=adopt)
            stored.append([runs[number].key for number in numbers], batch.build)
            folders |= zip(numbers, batch.folders, strict=True)
        return [folders[number] for number in range(len(runs))]

    def latest_run(self, experiment: str) -> Record | None:
        """The latest finished run of an experiment with the parameters of its file at that time."""
        folders = [p for p in (self.runs / experiment).glob("[!.]*") if (p / "run.json").exists()]
        newest_first = sorted(folders, key=lambda p: (p / "run.json").stat().st_mtime_ns)[::-1]
        return first_completed(newest_first)

    def folders(self, pattern: str = "*/*") -> Iterator[Path]:
        """The folders of all runs whose location matches a pattern, packed runs included."""
        for location in self.run_dirs(pattern):
            yield from sorted(path.parent for path in location.glob("[!.]*/run.json"))
            for run_id in packed.at(location).refresh().ids():
                yield location / run_id

    def locate_runs(self, run_ids: Iterable[str | None]) -> Iterator[Path | None]:
        """The folder of each of these runs; None for unknown ids."""
        stored = [packed.at(location).refresh() for location in self.packed_dirs()]
        standalone: dict[str, Path] | None = None
        for run_id in run_ids:
            if run_id is None:
                yield None
                continue
            location = next((part.place for part in stored if part.find(run_id)), None)
            if location is not None:
                yield location / run_id
            else:
                standalone = self.standalone_runs() if standalone is None else standalone
                yield standalone.get(run_id)

    def run_dirs(self, pattern: str = "*/*") -> list[Path]:
        """The locations of runs: the folders of results and studies."""
        return sorted(self.runs.glob(pattern))

    def packed_dirs(self) -> list[Path]:
        """The locations that have packs."""
        return [folder.parent for folder in self.run_dirs(f"*/*/{packed.FOLDER}")]

    def standalone_runs(self) -> dict[str, Path]:
        """The folders of the runs that are not packed, by id."""
        paths = self.runs.glob("*/*/[!.]*/run.json")
        return {path.parent.name: path.parent for path in paths}

    def corruption_report(self) -> Iterator[str]:
        """One line for each corrupt part of a pack."""
        for location in self.packed_dirs():
            yield from packed.at(location).refresh().problems

    def count_outdated_format(self, pattern: str) -> int:
        """The number of runs in an older format, of the experiments that match a pattern."""
        return sum(
            has_older_format(path.parent) for path in self.runs.glob(f"{pattern}/[!.]*/run.json")
        )

    def find(self, run_id: str) -> Record:
        """A run by its id or by a unique beginning of the id."""
        if not run_id or not all(c in "0123456789abcdef-" for c in run_id):
            raise InputError(
                f"'{run_id}' is not a run id; allowed: hexadecimal digits, - and a number"
            )
        matches = [path.parent for path in self.runs.glob(f"*/*/{run_id}*/run.json")]
        for location in self.packed_dirs():
            stored = packed.at(location).refresh()
            matches += [location / name for name in islice(stored.ids(run_id), 1000)]
        exact = [path for path in matches if path.name == run_id]
        if len(exact or matches) == 1:
            return read_run((exact or matches)[0])
        if matches:
            ids = _format_ids(matches)
            raise InputError(f"'{run_id}' is the beginning of {len(matches)} run ids: {ids}")
        raise InputError(
            f"no run id begins with '{run_id}' in {self.runs}; `bythebook runs` lists all runs"
        )

    def remove_stale_temp_dirs(self) -> None:
        """Remove temporary folders of interrupted writes that are older than an hour."""
        limit = time.time() - 3600
        for path in self.runs.glob("*/*/.writing-*"):
            with suppress(OSError):  # removed by another process, or without permission
                if path.stat().st_mtime < limit:
                    shutil.rmtree(path)


class _FolderListing:
    """The content of a location, read once for many look-ups."""

    def __init__(self, location: Path) -> None:
        self.packed = packed.at(location).refresh()
        self.folder = self.packed.folder
        try:
            self._names = {entry.name for entry in os.scandir(location)}
        except FileNotFoundError:
            self._names = set()

    def has_folder(self, key: str) -> bool:
        """Whether a run with this key has a folder."""
        next_attempt = max((entry.attempt for entry in self.packed.attempts(key)), default=0) + 1
        return any(f"{key}-{number}" in self._names for number in {1, next_attempt})

    def latest(self, key: str) -> packed.Entry | None:
        """The latest finished run in a pack; None if a run with this key has a folder."""
        entries = self.packed.attempts(key)
        if not entries or self.has_folder(key):
            return None
        return next((entry for entry in reversed(entries) if entry.finished), None)


def _next_attempt(attempts: Sequence[Path]) -> int:
    """The number of the next attempt."""
    return max((int(path.name.rpartition("-")[2]) for path in attempts), default=0) + 1


def _rename_into_place(temporary: Path, target: Path) -> bool:
    """Rename a folder unless a folder or a packed run has the new name; whether it was renamed."""
    has_packs = target.parent.parent.name == "study"
    with exclusive_lock(target.parent / packed.LOCK) if has_packs else nullcontext():
        if has_packs and packed.at(target.parent).refresh().find(target.name) is not None:
            return False
        try:
            temporary.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            return False
    return True


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _format_ids(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:4])
    return shown + (", ..." if len(paths) > 4 else "")
