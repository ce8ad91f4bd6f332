"""Atomic writes, and reads with a size limit."""

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from bythebook.experiments.core.atomic_files import (
    read_json_or_empty,
    read_limited,
    write_atomic,
    write_text_atomic,
)


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    (tmp_path / "here").symlink_to(elsewhere)
    assert write_text_atomic(tmp_path / "here", "ours") == tmp_path / "here"
    assert not (tmp_path / "here").is_symlink()
    assert (tmp_path / "here").read_text() == "ours"
    assert elsewhere.read_text() == "precious"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    def half(path: Path) -> None:
        path.write_text("half")
        raise ArithmeticError

    path = tmp_path / "a.txt"
    path.write_text("complete")
    with pytest.raises(ArithmeticError):
        write_atomic(path, half)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "complete"


def test_the_temporary_file_has_the_suffix_of_the_target(tmp_path: Path) -> None:
    """Libraries choose the format by the suffix."""
    seen: list[str] = []
    write_atomic(tmp_path / "a.png", lambda path: (seen.append(path.suffix), path.touch()))
    assert seen == [".png"]


def test_only_regular_files_of_limited_size_are_read(tmp_path: Path) -> None:
    """Pipes, sockets and devices are refused without blocking."""
    file, pipe, plug = tmp_path / "file", tmp_path / "pipe", tmp_path / "socket"
    file.write_bytes(b"12345")
    assert read_limited(file, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_limited(file, 4)
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(plug))
        for path in (pipe, plug, tmp_path, Path("/dev/zero"), tmp_path / "missing"):
            with pytest.raises(OSError, match=path.name):
                read_limited(path, 100)


def test_a_small_file_takes_little_memory_for_any_limit(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"abc")
    tracemalloc.start()
    try:
        assert read_limited(tmp_path / "small", 2**32) == b"abc"
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_an_invalid_json_file_is_an_empty_mapping(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    path.write_text('{"a": 1}')
    assert read_json_or_empty(path) == {"a": 1}
    for invalid in (b'["a"]', b'{"a": ', b"\xff", b"[" * 100_000):
        path.write_bytes(invalid)
        assert read_json_or_empty(path) == {}
    path.unlink()
    assert read_json_or_empty(path) == {}
    os.mkfifo(path)
    assert read_json_or_empty(path) == {}
