"""What Hydra and OmegaConf raise, in one line: what is wrong, and what is allowed."""

from collections.abc import Sequence
from typing import Any

import yaml

from experiments.configuration import catalogue
from experiments.contract.errors import BadInput
from experiments.contract.places import places
from experiments.contract.suggestions import meant

LONG = 200  # characters of somebody's input that a line repeats


def explained(error: BaseException, words: Sequence[str]) -> BadInput:
    """The errors of composing a configuration, by their types and fields."""
    from hydra.errors import MissingConfigException, OverrideParseException
    from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

    if isinstance(error, OverrideParseException):
        return BadInput(unreadable(error.override or ""))
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = error.missing_cfg_file.partition("/")
        return BadInput(no_choice(group, choice, error.options or ()))
    if isinstance(error, UnicodeDecodeError):
        return BadInput(f"a file of the configuration is not text in UTF-8: {error}")
    cause: Any = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, yaml.YAMLError):
        return BadInput(" ".join(str(cause).split()))
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.full_key:
        names = list(cause.parent_node) if cause.parent_node is not None else []
        return BadInput(no_such(cause.full_key, [str(name) for name in names]))
    reason = str(cause).partition("\n")[0]
    if isinstance(cause, OmegaConfBaseException) and cause.full_key:
        return BadInput(f"{cause.full_key}: {reason}")
    return BadInput(f"{' '.join(words)[:LONG]}: {reason}")


def shortened(word: str) -> str:
    """As much of a word as a line repeats."""
    return word if len(word) <= LONG else f"{word[:LONG]}..."


def unreadable(word: str) -> str:
    """A word of the command line that is no override."""
    shown = shortened(word)
    if "=" not in word:
        return f"'{shown}' is not understood{meant(word, catalogue.names())}; allowed: key=value"
    return (
        f"'{shown}' cannot be read as key=value; brackets and quotes come in pairs, and text with"
        " commas, spaces or brackets in quotes: \"key='a, b'\""
    )


def no_such(key: str, names: Sequence[str]) -> str:
    """A key that does not exist, the nearest that does, and all there are."""
    hint = meant(key.rpartition(".")[2], names)
    return f"there is no '{key}'{hint}; allowed here: {', '.join(names)}"


def no_choice(group: str, choice: str, known: Sequence[str] = ()) -> str:
    """A config group has no such option."""
    options = _options(group) or list(known)
    line = f"there is no {group} '{choice}'{meant(choice, options)}"
    if len(options) > 30:
        where = "run --help" if group == "study" else "list"
        return f"{line}; `bythebook {where}` shows all {len(options)}"
    return f"{line}; allowed: {', '.join(options)}"


def _options(group: str) -> list[str]:
    if group == "experiment":
        return catalogue.names()
    if group == "study":
        return list(places())
    return sorted(path.stem for path in (catalogue.ROOT / group).glob("*.yaml"))
