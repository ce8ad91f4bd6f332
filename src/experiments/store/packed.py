"""Packed runs of one location: look-up by key, reading of records, appending of groups.

The indices of the packs are read once, and later only as far as they have grown: 100,000 runs take
a few megabytes and a fraction of a second.
"""

import os
import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bythebook.experiments.store import packs
from bythebook.models.types import AnyArray

FOLDER = "cells"
LOCK = ".lock"  # held by a process that assigns the number of a run
_ID = re.compile(r"[0-9a-f]{16}-[1-9]")
_RECENT = 20_000  # rows in a dictionary before they are sorted
_ROW = np.dtype(
    [
        ("key", "<u8"),
        ("attempt", "<u4"),
        ("finished", "?"),
        ("group", "<u4"),
        ("place", "<u4"),  # in its group
        ("start", "<u8"),
        ("size", "<u4"),
    ]
)


_Row = tuple[int, int, bool, int, int, int, int]  # as a tuple


class Entry(NamedTuple):
    """A run in a pack."""

    key: str
    attempt: int
    finished: bool
    path: Path
    start: int
    size: int
    heads: slice  # position of the summaries of the group's runs
    place: int  # in its group

    @property
    def id(self) -> str:
        return f"{self.key}-{self.attempt}"


class Snapshot(NamedTuple):
    """The runs of a location at one time, sorted by key and attempt, without duplicates."""

    place: Path
    rows: AnyArray  # of type _ROW
    groups: list[tuple[Path, slice]]  # the pack of each group, and the position of its summaries

    def ids(self, numbers: AnyArray) -> list[str]:
        """The ids of the runs with these numbers."""
        rows = self.rows[numbers]
        pairs = zip(rows["key"].tolist(), rows["attempt"].tolist(), strict=True)
        return [f"{key:016x}-{attempt}" for key, attempt in pairs]

    def entry(self, number: int) -> Entry:
        return _entry(self.rows[number].tolist(), self.groups)

    def numbers(self, run_ids: Collection[str]) -> AnyArray:
        """The row numbers of these runs; other ids are ignored."""
        keys = [int(run_id.partition("-")[0], 16) for run_id in run_ids if _ID.match(run_id)]
        near = np.flatnonzero(np.isin(self.rows["key"], np.array(keys, np.uint64)))
        here: AnyArray = near[np.array([run_id in run_ids for run_id in self.ids(near)], bool)]
        return here

    def by_group(self, numbers: AnyArray) -> Iterator[AnyArray]:
        """Indices of the row numbers of each group, the last group of a pack first."""
        groups = self.rows["group"][numbers]
        order = np.argsort(groups, kind="stable")[::-1]
        seams = np.flatnonzero(np.diff(groups[order].astype(int))) + 1
        yield from np.split(order, seams) if len(order) else ()

    def sound(self, numbers: Sequence[int]) -> list[bool]:
        """Whether each of these records of one group is intact."""
        entries = [self.entry(number) for number in numbers]
        try:
            return packs.sound(entries[0].path, [(entry.start, entry.size) for entry in entries])
        except OSError:
            return [False] * len(entries)


class _File:
    """A pack as far as it has been read."""

    def __init__(self, path: Path, inode: int) -> None:
        self.path, self.inode, self.position = path, inode, 0


class Packed:
    """The packed runs of one location."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / FOLDER
        self.problems: list[str] = []  # one line for each corrupt part
        self._turn = threading.RLock()
        self._writer: packs.Writer | None = None
        self._forget()

    def _forget(self) -> None:
        self._files: dict[str, _File] = {}
        self._groups: list[
            tuple[Path, slice]
        ] = []  # the pack of each group, and the position of its summaries
        self._sorted: AnyArray = np.empty(0, _ROW)
        self._keys: AnyArray = np.empty(0, np.uint64)  # keys of the sorted rows, contiguous
        self._recent: dict[int, list[_Row]] = {}
        self._new = 0
        self._unsorted: list[AnyArray] = []  # rows read by the current refresh
        self.problems = []

    def refresh(self) -> "Packed":
        """Read the runs that any process has appended since."""
        with self._turn:
            there = self._listed()
            if any(
                name not in there or there[name][0] != file.inode or there[name][1] < file.position
                for name, file in self._files.items()
            ):
                self._forget()  # a pack was removed or replaced
            try:
                for name, (inode, size) in sorted(there.items()):
                    file = self._files.setdefault(name, _File(self.folder / name, inode))
                    if size > file.position:
                        self._read(file, size)
            finally:
                self._take()
            return self

    def _listed(self) -> dict[str, tuple[int, int]]:
        found = {}
        with suppress(FileNotFoundError):
            for path in self.folder.iterdir():
                if path.suffix == ".pack":
                    stat = path.stat()
                    found[path.name] = stat.st_ino, stat.st_size
        return found

    def _read(self, file: _File, size: int) -> None:
        for piece in packs.pieces(file.path, file.position, size, self.place / LOCK):
            if piece.group is not None:
                stated = piece.group.rows
                ends = piece.group.start + np.cumsum(stated["size"], dtype=np.uint64)
                rows = np.zeros(len(stated), _ROW)
                for name in ("key", "attempt", "finished", "size"):
                    rows[name] = stated[name]
                rows["start"] = ends - stated["size"]
                self._add(rows, file.path, piece.group.heads)
            elif piece.records:
                rows = np.zeros(len(piece.records), _ROW)
                for i, (key, attempt, start, length) in enumerate(piece.records):
                    finished = _says_finished(file.path, start, length)
                    rows[i] = int(key, 16), attempt, finished, 0, 0, start, length
                self._add(rows, file.path, slice(0, 0))
            if piece.damage:
                self.problems.append(piece.damage)
            file.position = piece.end

    def _add(self, rows: AnyArray, path: Path, heads: slice) -> None:
        rows["group"], rows["place"] = len(self._groups), np.arange(len(rows))
        self._groups.append((path, heads))
        self._unsorted.append(rows)

    def _take(self) -> None:
        """Sort the rows of a refresh, or keep them in a dictionary if they are few."""
        self._new += sum(map(len, self._unsorted))
        if self._new > _RECENT:
            self._sort()
            return
        for rows in self._unsorted:
            for row in rows.tolist():
                self._recent.setdefault(row[0], []).append(row)
        self._unsorted = []

    def _sort(self) -> AnyArray:
        if self._new:
            recent = np.array([row for rows in self._recent.values() for row in rows], _ROW)
            whole = np.concatenate([self._sorted, recent, *self._unsorted])
            self._sorted = whole[np.lexsort((whole["attempt"], whole["key"]))]
            self._keys = np.ascontiguousarray(self._sorted["key"])
            self._recent, self._unsorted, self._new = {}, [], 0
        return self._sorted

    def __len__(self) -> int:
        return len(self._sorted) + self._new

    def snapshot(self) -> Snapshot:
        """The runs that have been read, unaffected by later appends."""
        with self._turn:
            rows, groups = self._sort(), self._groups
        again = (rows["key"][1:] == rows["key"][:-1]) & (
            rows["attempt"][1:] == rows["attempt"][:-1]
        )
        return Snapshot(self.place, np.delete(rows, 1 + np.flatnonzero(again)), groups)

    def attempts(self, key: str) -> list[Entry]:
        """The runs with a key, the oldest first."""
        with self._turn:
            number = int(key, 16)
            keys = self._keys
            first = int(np.searchsorted(keys, np.uint64(number)))
            found: list[_Row] = list(self._recent.get(number, ()))
            while first < len(keys) and keys[first] == number:
                found.append(self._sorted[first].tolist())
                first += 1
            entries = (_entry(row, self._groups) for row in found)
            return sorted(entries, key=lambda entry: entry.attempt)

    def find(self, run_id: str) -> Entry | None:
        """The run of this id."""
        key, _, attempt = run_id.rpartition("-")
        with suppress(ValueError):
            return next((e for e in self.attempts(key) if str(e.attempt) == attempt), None)
        return None

    def ids(self, beginning: str = "") -> Iterator[str]:
        """The sorted ids that begin with some characters."""
        with self._turn:
            rows = self._sort()
        digits = beginning.partition("-")[0]
        if len(digits) > 16 or set(digits) - set("0123456789abcdef"):
            return
        least, most = (np.uint64(int(digits.ljust(16, digit), 16)) for digit in "0f")
        keys, last = self._keys, ""
        span = slice(np.searchsorted(keys, least), np.searchsorted(keys, most, side="right"))
        for key, attempt in zip(keys[span].tolist(), rows["attempt"][span].tolist(), strict=True):
            run_id = f"{key:016x}-{attempt}"
            if run_id.startswith(beginning) and run_id != last:
                yield run_id
            last = run_id

    def parts(self, entry: Entry) -> list[bytes]:
        """The text and the arrays of a record; raises `packs.Torn` if they are corrupt."""
        try:
            found = packs.record(entry.path, entry.start, entry.size)
        except OSError as error:
            raise packs.Torn(f"it cannot be read: {error}") from error
        if (found.key, found.attempt) != (entry.key, entry.attempt):
            raise packs.Torn(f"it is that of run {found.key}-{found.attempt}")
        return found.parts

    def sound(self, entries: Sequence[Entry]) -> list[bool]:
        """Whether each of these records is intact, without decoding them."""
        found = [False] * len(entries)
        by_path: dict[Path, list[int]] = {}
        for number, entry in enumerate(entries):
            by_path.setdefault(entry.path, []).append(number)
        for path, numbers in by_path.items():
            spans = [(entries[number].start, entries[number].size) for number in numbers]
            with suppress(OSError):
                for number, answer in zip(numbers, packs.sound(path, spans), strict=True):
                    found[number] = answer
        return found

    def append(
        self, keys: Sequence[str], made: Callable[[], tuple[list[packs.Draft], bytes]]
    ) -> None:
        """Append the entries that `made` returns, given the present runs.

        `made` is called before the lock is taken, and again if another process has added runs with
        these keys by then.
        """
        with self._turn:
            while True:
                before = self._numbers(keys)
                drafts, heads = made()
                if not drafts:
                    return
                if self._writer is None or not self._writer.is_usable:
                    self._writer = packs.Writer(self.folder)
                group = self._writer.packed(drafts, heads)

                def as_before(before: list[list[int]] = before) -> bool:
                    return self._numbers(keys) == before

                if self._writer.append(group, lock=self.place / LOCK, if_=as_before):
                    break
            self.refresh()

    def _numbers(self, keys: Sequence[str]) -> list[list[int]]:
        self.refresh()
        return [self.numbers(key) for key in keys]

    def numbers(self, key: str) -> list[int]:
        """The numbers of the runs with a key, in packs and in folders."""
        inside = {entry.attempt for entry in self.attempts(key)}
        last, number, found = max(inside, default=0), 1, list[int]()
        while True:
            path = f"{self.place}/{key}-{number}"
            if number in inside or os.path.exists(path):  # noqa: PTH110 - faster than Path
                found.append(number)
            elif number > last:
                return found
            number += 1


def _entry(row: _Row, groups: list[tuple[Path, slice]]) -> Entry:
    key, attempt, finished, group, place, start, size = row
    path, heads = groups[group]
    return Entry(f"{key:016x}", attempt, finished, path, start, size, heads, place)


def _says_finished(path: Path, start: int, size: int) -> bool:
    """Whether a record without an index has the status of a finished run."""
    with suppress(packs.Torn):
        return b'\n"status": "finished"' in packs.record(path, start, size).parts[0]
    return False


@lru_cache(maxsize=1024)
def at(place: Path) -> Packed:
    """The packed runs of a location, shared within this process."""
    return Packed(place)
