"""Locks between processes, which the operating system releases when a process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold the lock during the block; other processes wait."""
    with _flock(path, fcntl.LOCK_EX):
        yield


@contextmanager
def shared_lock(path: Path) -> Iterator[None]:
    """Hold the lock during the block, together with other shared holders."""
    with _flock(path, fcntl.LOCK_SH):
        yield


def is_unlocked(path: Path) -> bool:
    """Whether no process holds the lock."""
    try:
        with _flock(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return True
    except BlockingIOError:
        return False


@contextmanager
def _flock(path: Path, operation: int) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, operation)
        yield
    finally:
        os.close(descriptor)
