"""Complaints: the errors of Hydra and OmegaConf in one line: the knob, and what is allowed."""

import dataclasses
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hydra.errors import OverrideParseException

from experiments import catalogue
from experiments.errors import BadInput
from experiments.knobs import allowed
from experiments.study import studies


def explained(error: BaseException, study: str | None = None) -> BadInput:
    """Hydra's and OmegaConf's errors in one line that names the knob and what is allowed."""
    if isinstance(error, OverrideParseException):
        reason = error.message.splitlines()[0]
        override = error.override or ""
        shown = override if len(override) <= 200 else f"{override[:200]}..."
        return BadInput(f"'{shown}' cannot be read as key=value: {reason[:200]}")
    typed = re.search(r"(?:override|Error merging override) '?([+~]*[\w./@]+)", str(error))
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())
    named = re.search(r"Key '([^']+)'", text)
    key = typed[1].lstrip("+~") if typed else (getattr(cause, "full_key", None) or "")
    key = key or (named[1] if named else "")
    schema: Any = getattr(cause, "object_type", None)
    absent = re.search(r"Key '([^']+)' (?:is )?not in", text) or "does not exist" in text
    choice = re.search(r"Could not (?:find|load) '([^'/]+)/([^']+)'", text)
    if choice:
        return BadInput(no_choice(*choice.groups()))
    if absent and dataclasses.is_dataclass(schema):
        return BadInput(no_such(key, [entry.name for entry in dataclasses.fields(schema)]))
    if key.rpartition(".")[2] == "_target_":
        return BadInput(f"{key} names something to import: not allowed, choose study=<name>")
    if absent and key.startswith("launch.options."):
        return BadInput(f"there is no '{key}' yet: write +{key}=<value> to add it")
    if absent:
        return BadInput(f"there is no '{key}': choose study=<name> or experiment=<name> first")
    reason = text.split(" full_key:")[0]
    knob = re.match(r"study\.(\w+)", key)
    chosen = studies().get(study or getattr(schema, "name", None) or "")
    for entry in dataclasses.fields(chosen) if knob and chosen else ():
        if entry.name == knob[1]:  # type: ignore[index]
            return BadInput(f"{key}: {reason}; allowed: {allowed(entry)}")
    return BadInput(f"{key}: {reason}" if key and key not in reason else reason)


def no_such(key: str, names: Sequence[str]) -> str:
    """A key that does not exist, the nearest that does, and all there are."""
    hint = _hint(key.rpartition(".")[2], names)
    return f"there is no '{key}'{hint}; allowed here: {', '.join(names)}"


def no_choice(group: str, choice: str) -> str:
    """A config group has no such option."""
    options = _options(group)
    line = f"there is no {group} '{choice}'{_hint(choice, options)}"
    if len(options) > 30:
        return f"{line}; `bythebook list` shows all {len(options)}"
    return f"{line}; allowed: {', '.join(options)}"


def _options(section: str) -> list[str]:
    if section == "experiment":
        return catalogue.names()
    if section == "study":
        return list(studies())
    return sorted(path.stem for path in (catalogue.ROOT / section).glob("*.yaml"))


def _hint(typed: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(names), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
