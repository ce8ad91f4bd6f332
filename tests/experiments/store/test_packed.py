"""Packed runs of a location: look-up by key, unique numbers, several processes."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from bythebook.experiments.store import packed, packs
from bythebook.experiments.store.packed import Packed
from bythebook.experiments.store.packs import Draft
from bythebook.models.types import AnyArray

KEYS = [f"{7 * number:016x}" for number in range(40)]


def put(there: Packed, keys: list[str], finished: bool = True) -> None:
    """One more attempt at each key."""

    def made() -> tuple[list[Draft], bytes]:
        return [
            Draft(key, len(there.numbers(key)) + 1, finished, [key.encode()]) for key in keys
        ], b"h"

    there.append(keys, made)


@pytest.fixture
def there(tmp_path: Path) -> Packed:
    found = Packed(tmp_path)
    put(found, KEYS[:30])
    put(found, KEYS[20:], finished=False)
    return found


@pytest.mark.parametrize("recent", [0, 10**6])  # rows that are sorted, or not
def test_runs_are_found_by_key_and_by_the_beginning_of_their_ids(
    there: Packed, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(packed, "_RECENT", recent)
    for known in (there, Packed(there.place).refresh()):
        assert len(known) == 50
        assert [entry.id for entry in known.attempts(KEYS[25])] == [
            f"{KEYS[25]}-{n}" for n in (1, 2)
        ]
        assert [entry.finished for entry in known.attempts(KEYS[25])] == [True, False]
        assert known.attempts(f"{5:016x}") == []
        entry = known.find(f"{KEYS[3]}-1")
        assert entry is not None
        assert known.parts(entry) == [KEYS[3].encode()]
        assert known.find(f"{KEYS[3]}-2") is None is known.find("sweep-1")
        ids = sorted(f"{k}-1" for k in KEYS) + [f"{k}-2" for k in KEYS[20:30]]
        assert list(known.ids()) == sorted(ids)
        assert list(known.ids(KEYS[25])) == [f"{KEYS[25]}-1", f"{KEYS[25]}-2"]
        assert list(known.ids(f"{KEYS[25]}-2")) == [f"{KEYS[25]}-2"]
        assert list(known.ids("00000000000000f")) == [
            run for run in sorted(ids) if run.startswith("00000000000000f")
        ]
        assert list(known.ids("x")) == []


def test_rows_are_sorted_once_for_each_refresh(
    there: Packed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorting after each group would take quadratic time."""
    sorts: list[int] = []
    lexsort = np.lexsort

    def counted(keys: tuple[AnyArray, AnyArray]) -> AnyArray:
        sorts.append(len(keys[0]))
        return lexsort(keys)

    monkeypatch.setattr(packed, "_RECENT", 0)
    monkeypatch.setattr(np, "lexsort", counted)
    known = Packed(there.place).refresh()
    assert sorts == [50]
    assert len(list(known.ids())) == 50


def test_appended_runs_of_other_processes_are_read(there: Packed) -> None:
    other = Packed(there.place).refresh()
    put(there, KEYS[:2])
    assert len(other.attempts(KEYS[0])) == 1
    assert len(other.refresh().attempts(KEYS[0])) == 2
    assert other.numbers(KEYS[0]) == [1, 2]
    assert len(list(there.folder.iterdir())) == 1


def test_a_run_that_another_process_adds_meanwhile_changes_the_number(there: Packed) -> None:
    other, looks = Packed(there.place), []

    def made() -> tuple[list[Draft], bytes]:
        number = len(there.numbers(KEYS[0])) + 1
        if not looks:
            put(other, KEYS[:1])
        looks.append(number)
        return [Draft(KEYS[0], number, True, [b"x"])], b""

    there.append(KEYS[:1], made)
    assert looks == [2, 3]
    assert there.numbers(KEYS[0]) == [1, 2, 3]


def test_folders_are_numbered_with_the_packs(there: Packed) -> None:
    (there.place / f"{KEYS[0]}-1").mkdir()
    (there.place / f"{KEYS[0]}-2").mkdir()
    assert there.numbers(KEYS[0]) == [1, 2]
    put(there, KEYS[:1])
    assert there.numbers(KEYS[0]) == [1, 2, 3]


def test_a_pack_that_is_removed_or_replaced_is_forgotten(there: Packed) -> None:
    (path,) = there.folder.iterdir()
    path.unlink()
    assert len(there.refresh()) == 0
    put(there, KEYS[:3])
    assert list(there.refresh().ids()) == [f"{key}-1" for key in KEYS[:3]]


def test_corruption_is_reported_once_and_affects_one_group(there: Packed) -> None:
    (path,) = there.folder.iterdir()
    content = bytearray(path.read_bytes())
    second = content.rfind(packs.MARK + b"I")
    content[second + 30] ^= 1
    content.extend(content[second:])  # a third group, so that the corrupt one is not the last
    path.write_bytes(content)
    fresh = Packed(there.place).refresh()
    assert fresh.attempts(KEYS[25])[0].finished
    assert len(fresh.attempts(KEYS[25])) >= 2
    (line,) = fresh.refresh().problems
    assert path.name in line
    assert "20 runs were found" in line


def test_a_corrupt_record_is_detected_without_decoding(there: Packed) -> None:
    entry, other = there.find(f"{KEYS[0]}-1"), there.find(f"{KEYS[1]}-1")
    assert entry is not None
    assert other is not None
    with entry.path.open("r+b") as stream:
        stream.seek(entry.start + entry.size - 1)
        stream.write(b"?")
    assert there.sound([entry, other]) == [False, True]
    with pytest.raises(packs.Torn, match="not what was written"):
        there.parts(entry)


def _many(place: Path) -> None:
    there = Packed(place)
    for key in KEYS:
        put(there, [key])


def test_processes_assign_unique_numbers(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    workers = [context.Process(target=_many, args=(tmp_path,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    there = Packed(tmp_path).refresh()
    assert [there.numbers(key) for key in KEYS] == [[1, 2, 3]] * len(KEYS)
    assert len(there) == 3 * len(KEYS)


def test_one_process_reads_a_location_once(tmp_path: Path) -> None:
    assert packed.at(tmp_path) is packed.at(tmp_path)
