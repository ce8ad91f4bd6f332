"""Locks: one holder or several who share, and free again when the holder is dead."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from experiments.records.locks import exclusive, is_free, shared

context = multiprocessing.get_context("fork")


def test_a_lock_is_free_held_and_free_again(tmp_path: Path) -> None:
    path = tmp_path / "below" / "lock"
    assert is_free(path)
    for hold in (exclusive, shared):
        with hold(path):
            assert not is_free(path)
        assert is_free(path)


def test_those_who_share_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with shared(tmp_path / "lock"), shared(tmp_path / "lock"):
        assert not is_free(tmp_path / "lock")


def test_an_error_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError), exclusive(tmp_path / "lock"):
        raise ArithmeticError
    assert is_free(tmp_path / "lock")


def test_one_at_a_time(tmp_path: Path) -> None:
    """Threads that read, and write one more, lose no count."""
    number = tmp_path / "number"
    number.write_text("0")

    def count() -> None:
        for _ in range(50):
            with exclusive(tmp_path / "lock"):
                number.write_text(str(int(number.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.read_text() == "200"


def hold(path: Path, held: Event) -> None:
    with exclusive(path):
        held.set()
        signal.pause()


def test_a_holder_that_is_killed_leaves_it_free(tmp_path: Path) -> None:
    held = context.Event()
    process = context.Process(target=hold, args=(tmp_path / "lock", held))
    process.start()
    held.wait()
    assert not is_free(tmp_path / "lock")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert is_free(tmp_path / "lock")


def test_a_lock_that_is_a_link_empties_no_file(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), exclusive(tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
