"""Locks between processes, released by the operating system if their holder dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file for the length of the block; others wait."""
    with _held(path, fcntl.LOCK_EX):
        yield


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock file together with others who share it, for all to see that it is held."""
    with _held(path, fcntl.LOCK_SH):
        yield


def is_free(path: Path) -> bool:
    """Does nobody hold the lock file right now?"""
    try:
        with _held(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return True
    except BlockingIOError:
        return False


@contextmanager
def _held(path: Path, how: int) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
