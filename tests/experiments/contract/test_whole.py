"""Files are written whole or not at all, and where they are said to be."""

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from experiments.contract.whole import content, mapping, replaced, replaced_text


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (tmp_path / "here").symlink_to(elsewhere)
    assert replaced_text(tmp_path / "here", "ours") == tmp_path / "here"
    assert not (tmp_path / "here").is_symlink()
    assert (tmp_path / "here").read_text() == "ours"
    assert elsewhere.read_text() == "precious"


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def half(path: Path) -> None:
        path.write_text("half")
        raise ArithmeticError

    path = tmp_path / "a.txt"
    path.write_text("whole")
    with pytest.raises(ArithmeticError):
        replaced(path, half)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "whole"


def test_it_is_written_with_its_own_suffix(tmp_path: Path) -> None:
    """By which libraries know what to write."""
    seen: list[str] = []
    replaced(tmp_path / "a.png", lambda path: (seen.append(path.suffix), path.touch()))
    assert seen == [".png"]


def test_only_regular_files_of_bearable_size_are_read(tmp_path: Path) -> None:
    """Without waiting for what may never come."""
    file, pipe, plug = tmp_path / "file", tmp_path / "pipe", tmp_path / "socket"
    file.write_bytes(b"12345")
    assert content(file, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        content(file, 4)
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(plug))
        for path in (pipe, plug, tmp_path, Path("/dev/zero"), tmp_path / "missing"):
            with pytest.raises(OSError, match=path.name):
                content(path, 100)


def test_a_small_file_takes_little_room_whatever_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"abc")
    tracemalloc.start()
    try:
        assert content(tmp_path / "small", 2**32) == b"abc"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_what_is_remembered_is_a_mapping_or_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text('{"a": 1}')
    assert mapping(path) == {"a": 1}
    for damaged in (b'["a"]', b'{"a": ', b"\xff", b"[" * 100_000):
        path.write_bytes(damaged)
        assert mapping(path) == {}
    path.unlink()
    assert mapping(path) == {}
    os.mkfifo(path)
    assert mapping(path) == {}
