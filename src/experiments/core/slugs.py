"""Safe names of files and anchors, made from arbitrary text.

A name from a record, a configuration or a user becomes part of a path only through this module.
"""

import re
from collections.abc import Iterable

MAX_CHARS = 120  # of a path component: file systems allow 255 bytes, suffix included


def slugify(text: str) -> str:
    """Letters, digits, dots, hyphens, underscores and slashes; other characters become hyphens."""
    parts = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.")[:MAX_CHARS] for part in text.split("/")
    )
    return "/".join(part or "unnamed" for part in parts)


def unique_slugs(texts: Iterable[str]) -> list[str]:
    """A slug for each text; all differ, also on file systems that ignore case."""
    used: set[str] = set()
    slugs = []
    for text in texts:
        base = candidate = slugify(text)
        number = 2
        while candidate.lower() in used:
            candidate, number = f"{base}-{number}", number + 1
        used.add(candidate.lower())
        slugs.append(candidate)
    return slugs


def unique_file_names(texts: Iterable[str]) -> list[str]:
    """`unique_slugs` for the files of one folder: slashes become hyphens."""
    return unique_slugs(text.replace("/", "-") for text in texts)
