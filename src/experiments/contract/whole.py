"""Files that are written whole or not at all, and where they are said to be."""

import uuid
from collections.abc import Callable
from pathlib import Path


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
