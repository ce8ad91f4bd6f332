"""Tags of runs, such as paper=figure-3, in a file next to the record."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from bythebook.experiments.core.atomic_files import read_json_or_empty, write_text_atomic
from bythebook.experiments.core.errors import InputError

FILE = "tags.json"
MAX_TAG_CHARS = 200
# MLflow shows these fields of every run as tags.
RESERVED_TAGS = (
    *("kind", "study", "experiment", "book", "section", "item", "topic", "verdict", "seed"),
    *("data_grade", "data_digest", "code_digest", "git_commit", "git_dirty", "platform", "python"),
)
_NAME = re.compile(r"[A-Za-z][\w-]{0,59}")


def parse_tags(words: Iterable[str]) -> dict[str, str]:
    """Tags from arguments of the form NAME=VALUE."""
    tags: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not _NAME.fullmatch(name) or name in RESERVED_TAGS:
            raise InputError(
                f"--tag {word}: invalid tag; allowed: NAME=VALUE with letters, digits, - and _"
                f" in the name, except {', '.join(RESERVED_TAGS)}"
            )
        if not value or len(value) > MAX_TAG_CHARS or not value.isprintable():
            raise InputError(
                f"--tag {name}: invalid value; allowed: 1 to {MAX_TAG_CHARS} printable characters"
            )
        tags[name] = value
    return tags


def read_tags(folder: Path) -> dict[str, str]:
    """The tags of a run."""
    content = read_json_or_empty(folder / FILE)
    return {name: value for name, value in content.items() if isinstance(value, str)}


def add_tags(folder: Path, tags: Mapping[str, str]) -> None:
    """Add tags to a run; existing tags get the new value."""
    if tags and (merged := {**read_tags(folder), **tags}) != read_tags(folder):
        folder.mkdir(parents=True, exist_ok=True)  # a packed run may have no folder
        write_text_atomic(folder / FILE, json.dumps(merged, ensure_ascii=False))
