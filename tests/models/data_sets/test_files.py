"""Files: non-files, large and damaged files raise a one-line error; others are read correctly."""

import io
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from bythebook.models.data_sets import files
from bythebook.models.data_sets.originals import ORIGINALS
from bythebook.models.datasets import DataError, load, originals_in


def corpus(folder: Path) -> Path:
    """The path of a user's file without a known digest."""
    path = folder / "newsgroups" / "bag-of-words.csv"
    path.parent.mkdir()
    return path


def refusal(folder: Path, name: str = "newsgroups") -> str:
    with originals_in(folder), pytest.raises(DataError) as caught:
        load(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(corpus(tmp_path))
    assert "bag-of-words.csv is not a regular file" in refusal(tmp_path)


def test_a_device_and_a_folder_are_refused(tmp_path: Path) -> None:
    path = corpus(tmp_path)
    path.symlink_to("/dev/zero")
    assert "is not a regular file" in refusal(tmp_path)
    other = tmp_path / "other" / "newsgroups" / "bag-of-words.csv"
    other.mkdir(parents=True)
    assert "cannot be read: Is a directory" in refusal(tmp_path / "other")


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with corpus(tmp_path).open("wb") as file:
        file.truncate(files.LIMIT + 1)
    assert "is too large: more than 64 MiB" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is damaged: it is empty"),
        (b"\n\n", "is damaged: it is empty"),
        (b"0,1,0,0,2\n1,2\n", "is damaged: the number of columns changed"),
        (b"0,1,0,0,two\n", "is damaged: could not convert"),
        (b"0,1,0,0,nan\n", "is damaged: not every number in it is finite"),
        (b"\x80\x00\xff,1\n", "is damaged: "),
    ],
)
def test_a_damaged_file_of_the_users_own_is_named(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = corpus(tmp_path)
    path.write_bytes(content)
    message = refusal(tmp_path)
    assert str(path) in message
    assert reason in message


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("mlapp-darwin", "mlapp/darwin.txt"),
        ("mlapp-harvard500", "mlapp/harvard500.mat"),
        ("mlapp-letter-a", "mlapp/letterA.mat"),
        ("prml-oil-flow", "prml/oilFlow3Class.mat"),
        ("prml-oil-flow-validation", "prml/oilFlow3Class.mat"),
    ],
)
def test_a_wrong_original_of_any_format_is_refused_before_it_is_parsed(
    name: str, path: str, tmp_path: Path
) -> None:
    (tmp_path / path).parent.mkdir()
    scipy.io.savemat(tmp_path / path, {"A": np.eye(2), "G": np.eye(2), "U": np.eye(2)})
    assert "damaged or not the right one" in refusal(tmp_path, name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_may_not_be_entered_is_not_a_missing_file(tmp_path: Path) -> None:
    folder = corpus(tmp_path).parent
    folder.chmod(0)
    try:
        assert "cannot be read: Permission denied" in refusal(tmp_path)
    finally:
        folder.chmod(0o700)


def saved(variables: dict[str, object], version: str = "5") -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, variables, format=version)
    return file.getvalue()


@pytest.mark.parametrize("version", ["4", "5"])
def test_matlab_variables_come_in_the_requested_order(version: str) -> None:
    content = saved({"a": np.eye(2), "b": np.arange(3.0), "c": np.ones(1)}, version)
    b, a = files.matlab(content, "b", "a")
    assert b.ravel().tolist() == [0, 1, 2]
    assert a.tolist() == [[1, 0], [0, 1]]


def test_what_is_no_matlab_file_is_refused_in_words() -> None:
    whole = saved({"A": np.arange(1000.0)})
    for damaged in (b"", b"A", b"\x00" * 200, whole[:-500], np.random.default_rng(0).bytes(4096)):
        with pytest.raises(ValueError, match=r"it is no MATLAB file|it has no variable A"):
            files.matlab(damaged, "A")
    with pytest.raises(ValueError, match="it has no variable B"):
        files.matlab(whole, "A", "B")


def test_a_web_is_read_by_columns() -> None:
    G = scipy.sparse.csc_matrix(np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0]]))
    U = np.array([["a"], ["b"], ["c"]], dtype=object)
    graph = files.matlab_web(saved({"G": G, "U": U}))
    assert graph.nodes == ("a", "b", "c")
    np.testing.assert_array_equal(graph.G, G.toarray())
    assert sorted(map(tuple, graph.links.tolist())) == [(0, 2), (1, 0), (1, 2)]


def test_a_letter_is_what_is_brighter_than_the_average() -> None:
    A = np.array([[29, 29, 227], [29, 100, 227]], dtype=np.uint8)
    pixels = files.matlab_letter(saved({"A": A})).pixels
    assert pixels.tolist() == [[[0, 0, 1], [0, 0, 1]]]  # the average is 106.8
    average = files.matlab_letter(saved({"A": np.array([[0.0, 1.0, 2.0]])})).pixels
    assert average.tolist() == [[[0, 0, 1]]]  # what is as bright as the average is not the letter


def test_classes_are_counted_from_one() -> None:
    X = np.arange(4.0).reshape(2, 2)
    content = saved({"DataTst": X, "DataTstLbls": np.array([[0, 0, 1], [1, 0, 0]])})
    assert files.matlab_classes(content, "Tst").tolist() == [[0, 1, 3], [2, 3, 1]]


def test_a_text_has_newlines_only() -> None:
    assert files.plain_text("a\r\nb\nc é".encode()).characters == "a\nb\nc é"
    with pytest.raises(ValueError, match="can't decode"):
        files.plain_text(b"\xff\xfe")


@pytest.mark.parametrize("shape", [(1, 8), (3, 3), (5, 7), (16, 16)])
def test_packed_images_come_back(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.random((11, *shape)) < 0.3
    labels = rng.integers(0, 10, 11)
    content = files.pack(pixels, labels)
    found = files.packed(content)
    np.testing.assert_array_equal(found.pixels, pixels)
    np.testing.assert_array_equal(found.labels, labels)


def test_a_pixel_takes_a_bit_and_the_first_is_the_highest() -> None:
    pixels = np.array([[[1, 0, 0], [0, 0, 0], [0, 1, 1]]])
    with np.load(io.BytesIO(files.pack(pixels, np.zeros(1)))) as file:
        assert file["bits"].tolist() == [[0b10000001, 0b10000000]]


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


class Bomb:
    """An object that raises when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return pytest.fail, ("unpickled",)


def test_archives_that_are_none_are_refused() -> None:
    bits, shape, labels = np.zeros((2, 1), np.uint8), np.array([2, 2]), np.zeros(2)
    whole = npz(bits=bits, shape=shape, labels=labels)
    assert files.packed(whole).pixels.shape == (2, 2, 2)
    alone = io.BytesIO()
    np.save(alone, bits)
    pickled = npz(bits=np.array([Bomb()], dtype=object), shape=shape, labels=labels)
    for damaged in (b"", b"PK", whole[:100], alone.getvalue(), pickled, npz(bits=bits)):
        with pytest.raises(ValueError, match="it is no archive of bits, shape, labels"):
            files.packed(damaged)
    for wrong in ({"bits": bits[:1]}, {"bits": bits.astype(float)}, {"shape": np.array([3, 3])}):
        content = npz(**{"bits": bits, "shape": shape, "labels": labels, **wrong})
        with pytest.raises(ValueError, match=r"are not \d x \d pixels a row"):
            files.packed(content)
    with pytest.raises(ValueError, match="pixels of shape"):
        files.grey(npz(pixels=np.zeros((2, 4)), labels=labels))
    with pytest.raises(ValueError, match="a table of shape"):
        files.small_numbers(npz(table=np.zeros(3)))


def test_words_are_numbered_by_their_place() -> None:
    found = files.places(b"cat\n dog \n\nbird\ncat\n", ("dog", "cat"))
    assert found.tolist() == [[1.0], [0.0], [2.0], [1.0]]  # none of them: their number


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, table=np.zeros((100, 100)))
    assert files.small_numbers(stream.getvalue()).shape == (100, 100)
    monkeypatch.setattr(files, "UNPACKED", 50_000)
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match="it unpacks to more than"):
        files.small_numbers(stream.getvalue())


def test_a_matlab_file_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"A": np.zeros((100, 100))}, do_compression=True)
    assert len(stream.getvalue()) < 1000
    assert files.matlab_letter(stream.getvalue()).pixels.shape == (1, 100, 100)
    monkeypatch.setattr(files, "UNPACKED", 50_000)
    monkeypatch.setattr(scipy.io, "loadmat", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match="it unpacks to more than"):
        files.matlab_letter(stream.getvalue())


def test_what_a_matlab_file_unpacks_to_is_counted_over_all_its_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng, stream = np.random.default_rng(1), io.BytesIO()
    several = {name: rng.standard_normal((50, 100)) for name in "ABC"}
    scipy.io.savemat(stream, several, do_compression=True)
    numbers = 3 * 50 * 100 * 8
    monkeypatch.setattr(files, "UNPACKED", numbers + 1000)
    assert len(files.matlab(stream.getvalue(), *"ABC")) == 3
    monkeypatch.setattr(files, "UNPACKED", numbers)
    with pytest.raises(ValueError, match="it unpacks to more than"):
        files.matlab(stream.getvalue(), *"ABC")


def test_what_follows_a_compressed_variable_is_not_counted_as_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last four of a hundred bytes, and their checksum, come after the end that it states."""
    stored = zlib.compress(bytes(100), level=0)  # as they are, between a header and a checksum
    content = bytes(128) + struct.pack("<II", 15, len(stored) - 8) + stored
    monkeypatch.setattr(scipy.io, "loadmat", lambda *_, **__: {"A": "read"})
    monkeypatch.setattr(files, "UNPACKED", 96)
    assert files.matlab(content, "A") == ("read",)
    monkeypatch.setattr(files, "UNPACKED", 95)
    with pytest.raises(ValueError, match="it unpacks to more than"):
        files.matlab(content, "A")


def test_what_is_spare_behind_a_compressed_variable_ends_the_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spare = zlib.compress(bytes(100)) + bytes(5)
    content = bytes(128) + struct.pack("<II", 15, len(spare)) + spare
    monkeypatch.setattr(scipy.io, "loadmat", lambda *_, **__: {"A": "read"})
    monkeypatch.setattr(files, "LIMIT", 40)  # so that it is unpacked in several steps
    assert files.matlab(content, "A") == ("read",)


def test_matlab_files_are_known_by_their_digests() -> None:
    """SciPy's reader crashes on some truncated files: it may read known files only."""
    matlab = [entry for entry in ORIGINALS.values() if entry.path.endswith(".mat")]
    assert len(matlab) == 5
    assert all(len(entry.sha256) == 64 for entry in matlab)
    assert not any("matlab" in repr(e.parse) for e in ORIGINALS.values() if e not in matlab)
