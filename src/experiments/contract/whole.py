"""Files that are written whole or not at all, where they are said to be, and read within bounds."""

import errno
import json
import os
import stat
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any


def replaced(path: Path, write: Callable[[Path], object]) -> Path:
    """Have a file written aside and put it in place whole; a link of its name is not followed."""
    aside = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        write(aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path


def replaced_text(path: Path, text: str) -> Path:
    """The same for a text."""
    return replaced(path, lambda aside: aside.write_text(text, encoding="utf-8", newline="\n"))


def content(path: Path, most: int) -> bytes:
    """The bytes of a regular file of so many at most; nothing else is waited for or read.

    A pipe would wait for somebody to write into it, and a device may never end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        raw = file.read(min(size, most) + 1)  # room is made for all that is asked for
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return raw


def mapping(path: Path, most: int = 2**28) -> dict[str, Any]:
    """A mapping that was kept as JSON and can be made again: empty where it is not one."""
    try:
        found = json.loads(content(path, most))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
