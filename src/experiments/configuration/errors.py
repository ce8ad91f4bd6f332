"""Complaints: the errors of Hydra and OmegaConf in one line: the knob, and what is allowed."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, get_args

from hydra.errors import OverrideParseException

from experiments.configuration import catalogue
from experiments.configuration.jobs import Source
from experiments.contract.claims import Claim
from experiments.contract.errors import BadInput
from experiments.contract.knobs import allowed
from experiments.contract.study import studies
from experiments.contract.suggestions import meant


def explained(error: BaseException, study: str | None = None) -> BadInput:
    """Hydra's and OmegaConf's errors in one line that names the knob and what is allowed."""
    if isinstance(error, OverrideParseException):
        return BadInput(_unreadable(error))
    if isinstance(error, UnicodeDecodeError):
        return BadInput(f"a file of the configuration is not text in UTF-8: {error}")
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())
    return BadInput(_special(text) or _about_a_key(error, cause, text, study))


def _unreadable(error: OverrideParseException) -> str:
    override = error.override or ""
    shown = override if len(override) <= 200 else f"{override[:200]}..."
    lines = [line for line in error.message.splitlines() if not line.startswith("Error parsing")]
    reason = lines[0] if lines and "Exception: " not in lines[0] else "see `bythebook run --help`"
    return f"'{shown}' cannot be read as key=value: {_plainly(reason[:200])}"


def _special(text: str) -> str | None:
    """What is wrong with a command line or a file as a whole."""
    choice = re.search(r"Could not (?:find|load) '((?:hydra/)?[^'/]+)/([^']+)'", text)
    if choice:
        known = re.search(r"Available options in '[^']+': (.*?)(?: Config search path|$)", text)
        return no_choice(choice[1], choice[2], known[1].split() if known else ())
    several = re.match(r"Ambiguous value for argument '(.*?)' 1\.", text)
    if several:
        return f"'{several[1]}' has several values: -m sweeps over them, quotes make them one"
    if re.search(r"'study@experiment\.study'|Key 'experiment' not in 'Root'", text):
        file = re.match(r"In '([^']+)'", text)
        return f"{file[1] if file else 'the file'} does not begin with `# @package _global_`"
    return None


def _about_a_key(error: BaseException, cause: BaseException, text: str, study: str | None) -> str:
    typed = re.search(r"(?:override|Error merging override) '?([+~]*[\w./@]+)", str(error))
    stated = re.search(r"full_key: (?!object_type|reference_type)(\S+)", text)
    absent = re.search(r"Key '([^']+)' (?:is )?not in|'([^']+)' does not exist", text)
    file = re.match(r"In '([^']+)': \w+ raised while composing config: ", text)
    key = typed[1].lstrip("+~") if typed and not file else (stated[1] if stated else "")
    schema = getattr(cause, "object_type", None) or _schema(text)
    if schema is not None and schema.__name__ == "Claim":
        key = f"claims.{stated[1]}" if stated else "claims"
    if absent:
        key = stated[1] if stated and stated[1].startswith(key) else key or absent[1] or absent[2]
    owner = schema if dataclasses.is_dataclass(schema) else None
    if key.rpartition(".")[2] == "_target_" and (file or not (absent and owner)):
        return f"{key} names something to import: not allowed, choose study=<name>"
    if absent:
        return _prefixed(file, _absent(key, owner))
    reason = _plainly(text[file.end() if file else 0 :].split(" full_key:")[0])
    named = f"{key}: {reason}" if key and key not in reason else reason
    words = _allowed(key, owner, study)
    return _prefixed(file, f"{named}; allowed: {words}" if words else named)


def _prefixed(file: re.Match[str] | None, line: str) -> str:
    return f"{file[1]}: {line}" if file else line


def _absent(key: str, schema: Any) -> str:
    if schema is not None or "." not in key:
        kind = schema or _kinds()["Root"]
        return no_such(key, [entry.name for entry in dataclasses.fields(kind)])
    if key.count(".") > 1:  # an entry of a mapping
        return f"there is no '{key}' yet: write +{key}=<value> to add it"
    return f"there is no '{key}': choose study=<name> or experiment=<name> first"


def _kinds() -> dict[str, Any]:
    from experiments.configuration import compose

    kinds = (compose.Root, compose.Tracking, compose.Data, compose.Launch, compose.Limit)
    return {kind.__name__: kind for kind in (*kinds, Source, Claim)}


def _schema(text: str) -> Any:
    """The dataclass that an error speaks of."""
    named = re.search(r"object_type=(\w+)", text)
    if named is None:
        return None
    found = [name for name in studies() if name.replace("_", "") == named[1].lower()]
    return studies()[found[0]] if found else _kinds().get(named[1])


_WORDS = {
    r"missing EQUAL at '<EOF>'": "the = is missing",
    r"field '[^']+' is not Optional": "null is not allowed",
    r"Invalid value assigned: (\w+) is not a ListConfig, list or tuple\.": r"\1 is not a list",
    r"Cannot merge DictConfig with ListConfig": "a mapping is not a list",
    r"Invalid type assigned: (\w+) is not a subclass of \w+\. value: .*": r"\1 is not a mapping",
    r"\w+ \(DictConfig\) does not support deletion": "it cannot be taken out",
}


def _plainly(reason: str) -> str:
    for pattern, words in _WORDS.items():
        reason = re.sub(pattern, words, reason)
    return reason


def _allowed(key: str, schema: Any, study: str | None) -> str:
    """What a knob of a study or a setting may be, in words."""
    if key.startswith("study."):
        schema = studies().get(study or getattr(schema, "name", None) or "")
    name = re.split(r"[.\[]", key.removeprefix("study.").removeprefix("claims."))
    for entry in dataclasses.fields(schema) if schema is not None else ():
        if entry.name == name[-1] or (key.startswith("study.") and entry.name == name[0]):
            inner = entry.type if dataclasses.is_dataclass(entry.type) else None
            inner = inner or next(filter(dataclasses.is_dataclass, get_args(entry.type)), None)
            if inner is None:
                return allowed(entry)
            return f"{entry.name} with {', '.join(f.name for f in dataclasses.fields(inner))}"
    return ""


def no_such(key: str, names: Sequence[str]) -> str:
    """A key that does not exist, the nearest that does, and all there are."""
    hint = meant(key.rpartition(".")[2], names)
    return f"there is no '{key}'{hint}; allowed here: {', '.join(names)}"


def no_choice(group: str, choice: str, known: Sequence[str] = ()) -> str:
    """A config group has no such option; Hydra knows the options of its own groups."""
    options = _options(group) or list(known)
    line = f"there is no {group} '{choice}'{meant(choice, options)}"
    if len(options) > 30:
        where = "run --help" if group == "study" else "list"
        return f"{line}; `bythebook {where}` shows all {len(options)}"
    return f"{line}; allowed: {', '.join(options)}"


def _options(section: str) -> list[str]:
    if section == "experiment":
        return catalogue.names()
    if section == "study":
        return list(studies())
    return sorted(path.stem for path in (catalogue.ROOT / section).glob("*.yaml"))
