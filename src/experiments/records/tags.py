"""Names that people give to runs: `--tag paper=figure-3`, kept beside the record, which stays."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiments.contract.errors import BadInput
from experiments.contract.whole import mapping, replaced_text

FILE = "tags.json"
LONGEST = 200
# What every run says of itself has its own place in MLflow; a tag may not stand in for it.
RESERVED = (
    *("kind", "study", "experiment", "book", "section", "item", "topic", "verdict", "seed"),
    *("data_grade", "data_digest", "code_digest", "git_commit", "git_dirty", "platform", "python"),
)
_NAME = re.compile(r"[A-Za-z][\w-]{0,59}")


def parsed(words: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE, as often as it is given."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not _NAME.fullmatch(name) or name in RESERVED:
            raise BadInput(
                f"--tag {word}: allowed: NAME=VALUE, the name of letters, digits, - and _, and none"
                f" of {', '.join(RESERVED)}"
            )
        if not value or len(value) > LONGEST or not value.isprintable():
            raise BadInput(f"--tag {name}: allowed: a value of 1 to {LONGEST} printable characters")
        found[name] = value
    return found


def read(folder: Path) -> dict[str, str]:
    """The tags of a run; none where nobody gave it one."""
    found = mapping(folder / FILE)
    return {name: value for name, value in found.items() if isinstance(value, str)}


def add(folder: Path, tags: Mapping[str, str]) -> None:
    """Give a run these tags; one that it has already gets the new value."""
    if tags and (merged := {**read(folder), **tags}) != read(folder):
        folder.mkdir(parents=True, exist_ok=True)  # of a packed run there is none yet
        replaced_text(folder / FILE, json.dumps(merged, ensure_ascii=False))
