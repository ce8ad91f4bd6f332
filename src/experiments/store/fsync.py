"""Flush of records to the disk, before a run is reported as recorded.

A record is written to a temporary folder and renamed, or appended to a pack. The file system is
then asked to write contents, names and folders to the disk, once for a batch of runs; for a pack
that is on the disk already, only the file. If power fails before that, a record may be truncated:
its checksum shows it, and the run is computed again.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import IO, Any


def fsync_file(stream: IO[bytes]) -> None:
    """Flush the content of a file to the disk."""
    os.fsync(stream.fileno())


def fsync_filesystem(folder: Path) -> None:
    """Flush the file system of a folder to the disk."""
    call = _syncfs()
    if call is None:
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if call(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "the file system could not be flushed", str(folder))
    finally:
        os.close(descriptor)


@cache
def _syncfs() -> Any:
    """The function syncfs of Linux; None on systems that can only flush all file systems."""
    try:
        return ctypes.CDLL(None, use_errno=True).syncfs
    except (AttributeError, OSError):
        return None
