"""Packs: files that contain the records of many runs; each record is complete or absent.

A sweep of 100,000 runs would need 300,000 files. Instead each process appends its records to a pack
of its own, one group at a time: an index, a dictionary and the records, each in a frame with length
and digest. A record consists of a text and arrays. The text is compressed with the text of the
pack's first record as dictionary, and arrays that equal those of the dictionary are not repeated.
Any record can be read without the others. The index has the keys of the group and the summaries of
its runs.

A killed process leaves a truncated group at the end of its pack, to which no process appends again;
its complete records are used. Corruption affects only the frames that it hits: the next frame is
found by its mark, and the dictionary by any of its copies.
"""

import fcntl
import hashlib
import os
import struct
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bythebook.experiments.store import fsync
from bythebook.experiments.store.locking import exclusive_lock
from bythebook.models.types import AnyArray

MARK = b"\x89pack\r\n\x1a"
FULL = 256 * 2**20  # bytes, after which a process begins another pack
LARGEST = 2**31  # bytes of a frame
_INDEX, _DICTIONARY, _RECORD = b"IDR"
_HEADER = struct.Struct("<8sBI16s")  # mark, kind, length and digest of what follows
_OWN = struct.Struct("<QI8s")  # before a record: its key, its attempt, the dictionary it needs
_PART = struct.Struct("<BI")  # before a part of a record: how it is kept, and its length
_SAME, _RAW, _SHORT = range(3)  # as in the dictionary, as it is, compressed
_WINDOW = 2**15  # bytes of a part that a dictionary can serve with
ROW = np.dtype([("key", "<u8"), ("attempt", "<u4"), ("finished", "?"), ("size", "<u4")])


class Torn(Exception):
    """A part of a pack is corrupt; the message follows the path of the pack."""


class Draft(NamedTuple):
    """A record to be packed."""

    key: str
    attempt: int
    finished: bool
    parts: list[bytes]  # its text, and its arrays


class Group(NamedTuple):
    """The position of a group of records, and the content of its index."""

    rows: AnyArray  # of type ROW, in the order of the records
    heads: slice  # position of the summaries
    start: int  # of the first record's frame
    end: int


class Piece(NamedTuple):
    """A part of a pack: a group, or records that were recovered without an index."""

    end: int  # where to read on
    group: Group | None
    records: list[tuple[str, int, int, int]]  # key, attempt, start and size of a frame
    damage: str = ""


class Writer:
    """A pack that this process alone appends to."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{uuid.uuid4().hex}.pack"
        self.path.touch(exist_ok=False)
        self._coder: _Coder | None = None
        self._named = False  # on the disk, as a file of its folder

    @property
    def is_usable(self) -> bool:
        """Whether more can be appended: the pack exists and is not full."""
        try:
            return self.path.stat().st_size < FULL
        except OSError:
            return False

    def packed(self, drafts: Sequence[Draft], heads: bytes) -> bytes:
        """A group of records, encoded for this pack."""
        if self._coder is None:
            self._coder = _Coder(_serving(drafts[0].parts))
        coder = self._coder
        frames = [
            _frame(
                _RECORD,
                _OWN.pack(int(draft.key, 16), draft.attempt, coder.name) + coder.kept(draft.parts),
            )
            for draft in drafts
        ]
        rows = np.array(
            [
                (int(draft.key, 16), draft.attempt, draft.finished, len(frame))
                for draft, frame in zip(drafts, frames, strict=True)
            ],
            ROW,
        )
        index = struct.pack("<II", len(rows), len(coder.frame)) + rows.tobytes() + heads
        return b"".join([_frame(_INDEX, index), coder.frame, *frames])

    def append(self, group: bytes, *, lock: Path, if_: Callable[[], bool]) -> bool:
        """Append a group and flush it to the disk, if `if_` returns True under the lock.

        If the disk is full, the pack is unchanged.
        """
        with self.path.open("ab", buffering=0) as stream:
            with exclusive_lock(lock):
                if not if_():
                    return False
                before, rest = os.fstat(stream.fileno()).st_size, memoryview(group)
                try:
                    while rest:
                        rest = rest[stream.write(rest) :]
                except BaseException:
                    stream.truncate(before)
                    raise
            if self._named:
                fsync.fsync_file(stream)
            else:
                fsync.fsync_filesystem(self.path.parent)
                self._named = True
        return True


class _Coder:
    """Encoder of records, relative to a dictionary, which is another record."""

    def __init__(self, dictionary: list[bytes]) -> None:
        self.dictionary = dictionary
        text, *arrays = dictionary
        content = _joined([(_SHORT, zlib.compress(text)), *((_RAW, array) for array in arrays)])
        self.name = _digest(_DICTIONARY, content)[:8]
        self.frame = _frame(_DICTIONARY, self.name + content)
        self._primed = zlib.compressobj(1, zdict=text)

    def kept(self, parts: list[bytes]) -> bytes:
        text, *arrays = parts
        coder = self._primed.copy()
        known = self.dictionary[1:]
        found = [(_SHORT, coder.compress(text) + coder.flush())]
        for place, array in enumerate(arrays):
            same = place < len(known) and array == known[place]
            found.append((_SAME, b"") if same else (_RAW, array))
        return _joined(found)


def _serving(parts: list[bytes]) -> list[bytes]:
    """The parts of a record that serve as dictionary: the beginning of its text, small arrays."""
    text, *arrays = parts
    return [text[:_WINDOW], *(array if len(array) <= _WINDOW else b"" for array in arrays[:16])]


def _joined(parts: list[tuple[int, bytes]]) -> bytes:
    return b"".join(_PART.pack(how, len(part)) + part for how, part in parts)


def _parted(content: bytes, dictionary: list[bytes]) -> list[bytes]:
    """Decode a record."""
    found: list[bytes] = []
    position = 0
    try:
        while position < len(content):
            how, length = _PART.unpack_from(content, position)
            position += _PART.size
            part = content[position : position + length]
            position += length
            if how == _SHORT:
                coder = zlib.decompressobj(zdict=dictionary[0] if dictionary else b"")
                part = coder.decompress(part, LARGEST)
            found.append(dictionary[len(found)] if how == _SAME else part)
    except (struct.error, zlib.error, IndexError) as error:
        raise Torn(f"it cannot be read: {error}") from error
    return found


def pieces(path: Path, position: int, size: int, lock: Path) -> Iterator[Piece]:
    """The groups of a pack from a position on, up to its present size.

    The last may be truncated or being written: its complete records are used if no writer holds the
    lock.
    """
    with path.open("rb") as stream:
        while position < size:
            try:
                group = _group(stream.fileno(), position, size)
            except Torn as problem:
                if not _is_left(lock):
                    return
                grown = os.fstat(stream.fileno()).st_size
                if grown > size:  # a writer has ended its work since
                    size = grown
                    continue
                found, position = _salvaged(stream.fileno(), position, size)
                damage = f"{path} is damaged ({problem}); {len(found)} runs were found in that part"
                # A truncated group at the end is normal after a killed process.
                yield Piece(position, None, found, damage if position < size else "")
                continue
            position = group.end
            yield Piece(position, group, [])


def _is_left(lock: Path) -> bool:
    """Whether no process holds the lock."""
    try:
        with lock.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


def record(path: Path, start: int, size: int) -> Draft:
    """A record; raises `Torn` if it is corrupt. The field `finished` is not set."""
    with path.open("rb") as stream:
        payload = _payload(os.pread(stream.fileno(), size, start), _RECORD)
    key, attempt, name = _OWN.unpack_from(payload)
    parts = _parted(payload[_OWN.size :], _dictionary(path, name))
    return Draft(f"{key:016x}", attempt, False, parts)


def sound(path: Path, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether each of these frames (start and size) is intact."""
    found = []
    with path.open("rb") as stream:
        for start, size in spans:
            try:
                _payload(os.pread(stream.fileno(), size, start), _RECORD)
                found.append(True)
            except Torn:
                found.append(False)
    return found


def _group(file: int, position: int, size: int) -> Group:
    """The group at a position, if its index is intact and its records are within the file."""
    index = _payload(_framed(file, position, size), _INDEX)
    count, skipped = struct.unpack_from("<II", index)
    heads = 8 + count * ROW.itemsize
    if len(index) < heads:
        raise Torn("an index is too short")
    rows = np.frombuffer(index[8:heads], ROW)
    start = position + _HEADER.size + len(index) + skipped
    end = start + int(rows["size"].sum())
    if end > size:
        raise Torn("a group is not whole")
    begin = position + _HEADER.size
    return Group(rows, slice(begin + heads, begin + len(index)), start, end)


def _salvaged(file: int, position: int, size: int) -> tuple[list[tuple[str, int, int, int]], int]:
    """The intact records up to the next group, and the position of that group."""
    found: list[tuple[str, int, int, int]] = []
    begun = position
    while position < size:
        try:
            raw = _framed(file, position, size)
            kind = raw[len(MARK)]
            if kind == _INDEX and position > begun:
                return found, position
            payload = _payload(raw, kind)
            if kind == _RECORD:
                key, attempt, _ = _OWN.unpack_from(payload)
                found.append((f"{key:016x}", attempt, position, len(raw)))
            position += len(raw)
        except Torn:
            position = _next(file, position + 1, size)
    return found, size


def _next(file: int, position: int, size: int) -> int:
    """The position of the next frame, or the end."""
    while position < size:
        part = os.pread(file, 2**20, position)
        at = part.find(MARK)
        if at >= 0:
            return position + at
        if len(part) <= len(MARK):
            break
        position += len(part) - len(MARK)
    return size


@lru_cache(maxsize=64)
def _dictionary(path: Path, name: bytes) -> list[bytes]:
    """The dictionary of a pack: its first intact copy."""
    with path.open("rb") as stream:
        file, position = stream.fileno(), 0
        size = os.fstat(file).st_size
        while position < size:
            try:
                kind, length = _stated(file, position, size)
                if kind == _DICTIONARY:
                    payload = _payload(os.pread(file, length, position), kind)
                    if payload[:8] == name:
                        return _parted(payload[8:], [])
                position += length
            except Torn:
                position = _next(file, position + 1, size)
    raise Torn("its dictionary is lost")


def _frame(kind: int, payload: bytes) -> bytes:
    return _HEADER.pack(MARK, kind, len(payload), _digest(kind, payload)) + payload


def _framed(file: int, position: int, size: int) -> bytes:
    """The frame at a position, as long as its header says."""
    return os.pread(file, _stated(file, position, size)[1], position)


def _stated(file: int, position: int, size: int) -> tuple[int, int]:
    """The type and length of the frame at a position, if its header is plausible."""
    header = os.pread(file, _HEADER.size, position)
    if len(header) < _HEADER.size or not header.startswith(MARK):
        raise Torn("a frame has lost its mark")
    _, kind, length, _ = _HEADER.unpack(header)
    if position + _HEADER.size + length > size or length > LARGEST:
        raise Torn("a frame is not whole")
    return kind, _HEADER.size + length


def _payload(raw: bytes, kind: int) -> bytes:
    if len(raw) < _HEADER.size:
        raise Torn("it is not whole")
    mark, stated, length, digest = _HEADER.unpack_from(raw)
    payload = raw[_HEADER.size :]
    if mark != MARK or stated != kind or length != len(payload):
        raise Torn("it is not whole")
    if _digest(kind, payload) != digest:
        raise Torn("it is not what was written")
    return payload


def _digest(kind: int, payload: bytes) -> bytes:
    return hashlib.sha256(bytes([kind]) + payload).digest()[:16]
