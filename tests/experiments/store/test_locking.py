"""Locks: exclusive and shared, and released when the holder ends."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from bythebook.experiments.store.locking import exclusive_lock, is_unlocked, shared_lock

context = multiprocessing.get_context("fork")


def test_a_lock_is_released_after_the_block(tmp_path: Path) -> None:
    path = tmp_path / "below" / "lock"
    assert is_unlocked(path)
    for hold in (exclusive_lock, shared_lock):
        with hold(path):
            assert not is_unlocked(path)
        assert is_unlocked(path)


def test_shared_holders_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with shared_lock(tmp_path / "lock"), shared_lock(tmp_path / "lock"):
        assert not is_unlocked(tmp_path / "lock")


def test_an_error_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError), exclusive_lock(tmp_path / "lock"):
        raise ArithmeticError
    assert is_unlocked(tmp_path / "lock")


def test_only_one_thread_holds_the_exclusive_lock(tmp_path: Path) -> None:
    """Threads that increment a number in a file lose no increment."""
    number = tmp_path / "number"
    number.write_text("0")

    def count() -> None:
        for _ in range(50):
            with exclusive_lock(tmp_path / "lock"):
                number.write_text(str(int(number.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.read_text() == "200"


def hold(path: Path, held: Event) -> None:
    with exclusive_lock(path):
        held.set()
        signal.pause()


def test_a_killed_holder_releases_the_lock(tmp_path: Path) -> None:
    held = context.Event()
    process = context.Process(target=hold, args=(tmp_path / "lock", held))
    process.start()
    held.wait()
    assert not is_unlocked(tmp_path / "lock")
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert is_unlocked(tmp_path / "lock")


def test_a_lock_file_may_not_be_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), exclusive_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
