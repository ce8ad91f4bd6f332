"""Parameter values as text: in a widget, in the address of a page, and on the command line.

A string is written without quotes, None as the empty text, and any other value as JSON. A text
that cannot be read is passed on unchanged, so that the check of the configuration refuses it with
its own message.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin

from bythebook.experiments.config.job import Job
from bythebook.experiments.config.validation import JobFactory
from bythebook.experiments.core.type_check import field_types

PARAMETER_PREFIX = "study."
SEED = "seed"
_BARE = re.compile(r"[A-Za-z][\w.-]*")
_KEY, _ESCAPED = re.compile(r"([\\()\[\]{}:=, \t])"), r"\\\1"
_CONSTANTS = {"null", "true", "false", "nan", "inf"}


def to_text(value: Any) -> str:
    """A value as a widget shows it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def from_text(text: str, kind: Any) -> Any:
    """The value of a text for a parameter of type `kind`, or the text if it cannot be read."""
    inner = unwrap_optional(kind)
    if inner is not kind and text.strip().lower() in ("", "null", "none"):
        return None
    if inner is str:
        return text
    words = text.strip()
    if get_origin(inner) is list and not words.startswith("["):
        words = f"[{words}]"
    try:
        return json.loads(words, parse_constant=_refuse)
    except (ValueError, RecursionError):
        if get_args(inner) == (str,) and get_origin(inner) is list:
            entries = (entry.strip().strip("\"'") for entry in words.strip("[]").split(","))
            return [entry for entry in entries if entry]
        return text


def unwrap_optional(kind: Any) -> Any:
    """The type T of an annotation `T | None`; any other annotation is returned unchanged."""
    if get_origin(kind) in (Union, UnionType):
        (inner,) = (part for part in get_args(kind) if part is not NoneType)
        return inner
    return kind


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def job(factory: JobFactory, texts: Mapping[str, str]) -> Job:
    """The job with the values of `texts`; all other parameters have their published values."""
    types = {PARAMETER_PREFIX + name: kind for name, kind in field_types(factory.kind).items()}
    types[SEED] = int
    return factory.job({key: from_text(text, types.get(key, str)) for key, text in texts.items()})


def current_values(job: Job) -> dict[str, Any]:
    """The values of all parameters and of the seed, by full name."""
    config = job.config
    return {
        **{PARAMETER_PREFIX + name: value for name, value in config["knobs"].items()},
        SEED: job.seed,
    }


def command_line(job: Job, book: Job) -> str:
    """The command line of the same run."""
    published = current_values(book)
    changed = [
        word
        for name, value in current_values(job).items()
        for word in _override_words(name, value, published[name])
    ]
    return shlex.join(["bythebook", "run", str(book.experiment), *changed])


def _override_words(name: str, value: Any, book: Any) -> Iterator[str]:
    """The overrides of a changed parameter. Hydra merges mappings, so removed keys need `~`."""
    if value == book:
        return
    if not isinstance(value, dict):
        yield f"{name}={to_override(value)}"
        return
    yield from (f"~{name}.{key}" for key in book if key not in value)
    changed = {key: entry for key, entry in value.items() if book.get(key) != entry}
    if changed:
        yield f"{'' if changed.keys() <= book.keys() else '++'}{name}={to_override(changed)}"


def to_override(value: Any) -> str:
    """A value in the syntax of Hydra's overrides."""
    if isinstance(value, list):
        return f"[{','.join(map(to_override, value))}]"
    if isinstance(value, dict):
        named = (
            f"{_KEY.sub(_ESCAPED, name)}:{to_override(entry)}" for name, entry in value.items()
        )
        return "{" + ",".join(named) + "}"
    if isinstance(value, str):
        bare = _BARE.fullmatch(value) and value.lower() not in _CONSTANTS
        return value if bare else "'" + value.replace("'", r"\'") + "'"
    return json.dumps(value)
