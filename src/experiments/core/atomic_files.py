"""Atomic writes of files, and reads with a size limit."""

import errno
import json
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_atomic(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file, then rename it to `path`.

    The file is complete or absent. If `path` is a symbolic link, the link is replaced.
    """
    temporary = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_text_atomic(path: Path, text: str) -> Path:
    """Write a text in UTF-8 with `write_atomic`."""
    return write_atomic(path, lambda file: file.write_text(text, encoding="utf-8", newline="\n"))


def read_limited(path: Path, max_bytes: int) -> bytes:
    """The content of a regular file of at most `max_bytes` bytes.

    Other files are refused without reading: a pipe would block until another process writes, and
    a device may be endless.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        raw = file.read(min(size, max_bytes) + 1)  # read() allocates as much as it is asked for
    if len(raw) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", str(path))
    return raw


def read_json_or_empty(path: Path, max_bytes: int = 2**28) -> dict[str, Any]:
    """The mapping in a JSON file; an empty one if the file is missing or not valid."""
    try:
        content = json.loads(read_limited(path, max_bytes))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
