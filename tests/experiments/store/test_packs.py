"""Packs: every record is complete or absent, also in truncated and corrupt files."""

from pathlib import Path

import pytest

from bythebook.experiments.store import packs
from bythebook.experiments.store.packs import Draft, Piece, Torn, Writer, pieces, record

TEXT = b'{"status": "finished", "platform": "Linux", "level": %d}' + b" " * 300
GRID = bytes(range(256)) * 8


def drafts(numbers: range) -> list[Draft]:
    return [
        Draft(f"{number:016x}", 1, True, [TEXT % number, GRID, bytes([number]) * 1000])
        for number in numbers
    ]


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / ".lock"


@pytest.fixture
def pack(tmp_path: Path, lock: Path) -> Path:
    """Three groups of four records."""
    writer = Writer(tmp_path / "cells")
    for start in (0, 4, 8):
        group = writer.packed(drafts(range(start, start + 4)), b"heads of %d" % start)
        assert writer.append(group, lock=lock, if_=lambda: True)
    return writer.path


def read(path: Path, lock: Path) -> list[Piece]:
    return list(pieces(path, 0, path.stat().st_size, lock))


def whole(path: Path, lock: Path) -> dict[str, list[bytes]]:
    """Every record that can be read, by its key."""
    found = {}
    for piece in read(path, lock):
        spans = [(start, size) for _, _, start, size in piece.records]
        if piece.group is not None:
            start = piece.group.start
            for size in piece.group.rows["size"].tolist():
                spans.append((start, size))
                start += size
        for span, answer in zip(spans, packs.sound(path, spans), strict=True):
            try:
                made = record(path, *span)
            except Torn:
                assert not answer
                continue
            assert answer
            found[made.key] = made.parts
    return found


def test_packed_records_are_restored(pack: Path, lock: Path) -> None:
    assert whole(pack, lock) == {draft.key: draft.parts for draft in drafts(range(12))}
    groups = [piece.group for piece in read(pack, lock)]
    assert [group.rows["key"].tolist() for group in groups if group] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
    ]
    content = pack.read_bytes()
    assert [content[g.heads] for g in groups if g] == [b"heads of %d" % n for n in (0, 4, 8)]


def test_shared_parts_are_stored_once(pack: Path) -> None:
    own = 1000 + 150  # per record: its own array, and little for the text and the grid
    assert pack.stat().st_size < 12 * own + 3 * (len(GRID) + 1000 + 600)


def test_a_truncated_file_has_its_complete_records(pack: Path, lock: Path) -> None:
    content, everything = pack.read_bytes(), whole(pack, lock)
    for length in range(0, len(content), 97):
        pack.write_bytes(content[:length])
        packs._dictionary.cache_clear()
        found = whole(pack, lock)
        assert all(everything[key] == parts for key, parts in found.items())
        assert len(found) >= _whole_before(content, length)
        assert not any(piece.damage for piece in read(pack, lock))


def _whole_before(content: bytes, length: int) -> int:
    """The number of records that end before a position, counted by the marks that follow them."""
    ends, position = 0, content.find(packs.MARK)
    while 0 <= position < length:
        after = content.find(packs.MARK, position + 1)
        end = after if after >= 0 else len(content)
        ends += content[position + len(packs.MARK)] == ord("R") and end <= length
        position = after
    return ends


def test_corruption_affects_the_records_that_it_hits(pack: Path, lock: Path) -> None:
    content, everything = pack.read_bytes(), whole(pack, lock)
    for position in range(0, len(content), 61):
        pack.write_bytes(content[:position] + b"\0" * 40 + content[position + 40 :])
        packs._dictionary.cache_clear()
        found = whole(pack, lock)
        assert len(found) >= len(everything) - 2  # it may be across two of them
        assert all(everything[key] == parts for key, parts in found.items())
        assert sum(bool(piece.damage) for piece in read(pack, lock)) <= 1


def test_a_corrupt_dictionary_is_read_from_another_group(pack: Path, lock: Path) -> None:
    content = bytearray(pack.read_bytes())
    place = content.find(packs.MARK + b"D")
    content[place + 40] ^= 1
    pack.write_bytes(content)
    packs._dictionary.cache_clear()
    assert len(whole(pack, lock)) == 12


def test_a_group_that_is_being_written_is_not_read(pack: Path, lock: Path) -> None:
    from bythebook.experiments.store.locking import exclusive_lock

    content = pack.read_bytes()
    pack.write_bytes(content[:-10])
    with exclusive_lock(lock):
        assert [piece.group is not None for piece in read(pack, lock)] == [True, True]
    assert len(whole(pack, lock)) == 11  # its writer was killed: three of four are complete


def test_a_group_that_is_completed_during_reading_is_read(pack: Path, lock: Path) -> None:
    """The size was read too early, and the writer has released the lock since."""
    size = pack.stat().st_size
    for seen in range(1, size, 97):
        found = list(pieces(pack, 0, seen, lock))
        groups = [piece.group for piece in found]
        assert None not in groups
        assert found[-1].end >= seen


def test_a_full_disk_leaves_the_pack_unchanged(
    tmp_path: Path, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(tmp_path / "cells")
    group = writer.packed(drafts(range(4)), b"")
    assert writer.append(group, lock=lock, if_=lambda: True)
    before = writer.path.read_bytes()
    opened = Path.open

    def half(path: Path, *args: object, **named: object) -> object:
        stream = opened(path, *args, **named)  # type: ignore[call-overload]
        return Half(stream) if path == writer.path else stream

    monkeypatch.setattr(Path, "open", half)
    with pytest.raises(OSError, match="No space"):
        writer.append(group, lock=lock, if_=lambda: True)
    monkeypatch.undo()
    assert writer.path.read_bytes() == before


class Half:
    """A file on a disk that is full after a hundred bytes."""

    def __init__(self, stream: object) -> None:
        self.stream, self.left = stream, 100

    def write(self, content: bytes) -> int:
        if self.left == 0:
            raise OSError(28, "No space left on device")
        written: int = self.stream.write(content[: self.left])  # type: ignore[attr-defined]
        self.left -= written
        return written

    def __enter__(self) -> "Half":
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


def test_a_group_is_not_written_if_the_condition_fails(tmp_path: Path, lock: Path) -> None:
    writer = Writer(tmp_path / "cells")
    assert not writer.append(writer.packed(drafts(range(2)), b""), lock=lock, if_=lambda: False)
    assert writer.path.read_bytes() == b""


def test_a_full_or_removed_pack_is_not_usable(pack: Path, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "cells")
    assert writer.is_usable
    writer.path.unlink()
    assert not writer.is_usable
    with (other := Writer(tmp_path / "cells")).path.open("r+b") as stream:
        stream.truncate(packs.FULL)
    assert not other.is_usable
