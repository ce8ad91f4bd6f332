"""Values as text: what stands in a control, in the page's address, and on the command line.

A word is itself, nothing is empty, and all else is JSON. Text that is none of these goes on as
it stands, so that the configuration's own check refuses it in its own words.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin

from experiments.configuration.build import Template
from experiments.configuration.jobs import Job
from experiments.contract.type_check import field_types

KNOB = "study."
SEED = "seed"
_BARE = re.compile(r"[A-Za-z][\w.-]*")
_KEY, _ESCAPED = re.compile(r"([\\()\[\]{}:=, \t])"), r"\\\1"
_CONSTANTS = {"null", "true", "false", "nan", "inf"}


def told(value: Any) -> str:
    """A value as a control has it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read(text: str, kind: Any) -> Any:
    """The value that a text stands for, if it is one of this type; else the text."""
    other = not_none(kind)
    if other is not kind and text.strip().lower() in ("", "null", "none"):
        return None
    if other is str:
        return text
    words = text.strip()
    if get_origin(other) is list and not words.startswith("["):
        words = f"[{words}]"
    try:
        return json.loads(words, parse_constant=_refuse)
    except (ValueError, RecursionError):
        if get_args(other) == (str,) and get_origin(other) is list:
            entries = (entry.strip().strip("\"'") for entry in words.strip("[]").split(","))
            return [entry for entry in entries if entry]
        return text


def not_none(kind: Any) -> Any:
    """The type of a knob that may also be none, or its type as it is."""
    if get_origin(kind) in (Union, UnionType):
        (other,) = (part for part in get_args(kind) if part is not NoneType)
        return other
    return kind


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def job(template: Template, texts: Mapping[str, str]) -> Job:
    """The job that the texts of some controls ask for; the others are the book's."""
    types = {KNOB + name: kind for name, kind in field_types(template.kind).items()}
    types[SEED] = int
    return template.job({key: read(text, types.get(key, str)) for key, text in texts.items()})


def settings(of: Job) -> dict[str, Any]:
    """Everything that can be moved, by its full name."""
    science = of.science
    return {**{KNOB + name: value for name, value in science["knobs"].items()}, SEED: of.seed}


def command(of: Job, book: Job) -> str:
    """The command line that makes the same run."""
    stated = settings(book)
    changed = [word for k, v in settings(of).items() for word in _words(k, v, stated[k])]
    return shlex.join(["bythebook", "run", str(book.experiment), *changed])


def _words(name: str, value: Any, book: Any) -> Iterator[str]:
    """What sets a knob that differs. Hydra adds a mapping's entries to those that are there."""
    if value == book:
        return
    if not isinstance(value, dict):
        yield f"{name}={typed(value)}"
        return
    yield from (f"~{name}.{key}" for key in book if key not in value)
    changed = {key: entry for key, entry in value.items() if book.get(key) != entry}
    if changed:
        yield f"{'' if changed.keys() <= book.keys() else '++'}{name}={typed(changed)}"


def typed(value: Any) -> str:
    """A value in Hydra's grammar."""
    if isinstance(value, list):
        return f"[{','.join(map(typed, value))}]"
    if isinstance(value, dict):
        named = (f"{_KEY.sub(_ESCAPED, name)}:{typed(entry)}" for name, entry in value.items())
        return "{" + ",".join(named) + "}"
    if isinstance(value, str):
        bare = _BARE.fullmatch(value) and value.lower() not in _CONSTANTS
        return value if bare else "'" + value.replace("'", r"\'") + "'"
    return json.dumps(value)
