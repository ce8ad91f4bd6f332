"""What was told as done survives a power cut.

A record is written aside and renamed, or appended to a pack; before anybody is told of it, the file
system it is on is asked to write everything through: contents, names and folders, a batch at a
time; of a pack that has its name, only the file. A cut before that may leave a record that is not
whole: its seal shows it, and the run is made again.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import IO, Any


def sync_file(stream: IO[bytes]) -> None:
    """Write through what was written so far to this file, which is known by its name already."""
    os.fsync(stream.fileno())


def sync(folder: Path) -> None:
    """Write through what was written so far to the file system of this folder."""
    call = _syncfs()
    if call is None:
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if call(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "what was recorded cannot be synced", str(folder))
    finally:
        os.close(descriptor)


@cache
def _syncfs() -> Any:
    """Linux's call for one file system; elsewhere there is one for all of them."""
    try:
        return ctypes.CDLL(None, use_errno=True).syncfs
    except (AttributeError, OSError):
        return None
