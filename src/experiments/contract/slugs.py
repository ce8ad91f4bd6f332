"""Names of files and anchors: what somebody wrote, in characters that any disk and address takes.

A name that comes from a record, a configuration or a user becomes a path only through here.
"""

import re
from collections.abc import Iterable

LONGEST = 120  # characters of a part: file systems have room for 255 bytes, with a suffix


def slug(text: str) -> str:
    """Letters, digits, dots, hyphens, underscores and slashes; everything else becomes a hyphen."""
    parts = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.")[:LONGEST] for part in text.split("/")
    )
    return "/".join(part or "unnamed" for part in parts)


def slugs(texts: Iterable[str]) -> list[str]:
    """A slug for each text, no two alike, not even where upper and lower case are one."""
    taken: set[str] = set()
    found = []
    for text in texts:
        plain = candidate = slug(text)
        number = 2
        while candidate.lower() in taken:
            candidate, number = f"{plain}-{number}", number + 1
        taken.add(candidate.lower())
        found.append(candidate)
    return found


def file_names(texts: Iterable[str]) -> list[str]:
    """The same for files of one folder: a slash is a character like any other."""
    return slugs(text.replace("/", "-") for text in texts)
