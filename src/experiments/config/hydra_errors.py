"""One-line messages for errors of Hydra and OmegaConf."""

from collections.abc import Sequence
from typing import Any

import yaml

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.result_names import unknown_result_message
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.registry import study_topics
from bythebook.experiments.core.suggestions import did_you_mean

MAX_MESSAGE_CHARS = 200  # of the user's input in a message


def translate_error(error: BaseException, words: Sequence[str]) -> InputError:
    """An input error for an exception that Hydra raised while composing a configuration."""
    from hydra.errors import MissingConfigException, OverrideParseException
    from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

    if isinstance(error, OverrideParseException):
        return InputError(invalid_override_message(error.override or ""))
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, choice = error.missing_cfg_file.partition("/")
        return InputError(unknown_choice_message(group, choice, error.options or ()))
    if isinstance(error, UnicodeDecodeError):
        return InputError(f"a configuration file is not text in UTF-8: {error}")
    cause: Any = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, yaml.YAMLError):
        return InputError(" ".join(str(cause).split()))
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.full_key:
        names = list(cause.parent_node) if cause.parent_node is not None else []
        return InputError(unknown_key_message(cause.full_key, [str(name) for name in names]))
    reason = str(cause).partition("\n")[0]
    if isinstance(cause, OmegaConfBaseException) and cause.full_key:
        return InputError(f"{cause.full_key}: {reason}")
    return InputError(f"{' '.join(words)[:MAX_MESSAGE_CHARS]}: {reason}")


def truncate(word: str) -> str:
    """The text, cut to `MAX_MESSAGE_CHARS`."""
    return word if len(word) <= MAX_MESSAGE_CHARS else f"{word[:MAX_MESSAGE_CHARS]}..."


def invalid_override_message(word: str) -> str:
    """The message for an argument that is not a valid override."""
    shown = truncate(word)
    if "/" in word and "=" not in word:
        return unknown_result_message(shown)
    if "=" not in word:
        return (
            f"'{shown}' is not a setting; allowed: <name>=<value>, or a result such as"
            " fcml/fig-1.15"
        )
    return (
        f"'{shown}' is not a valid setting; allowed: <name>=<value> with balanced brackets and"
        " quotes, and quotes around text with commas, spaces or brackets: \"name='a, b'\""
    )


def unknown_key_message(key: str, names: Sequence[str]) -> str:
    """The message for an unknown key, with the closest known key and all allowed ones."""
    hint = did_you_mean(key.rpartition(".")[2], names)
    return f"there is no '{key}'{hint}; allowed here: {', '.join(names)}"


def unknown_choice_message(group: str, choice: str, known: Sequence[str] = ()) -> str:
    """The message for an unknown choice of a config group."""
    if group == "experiment":
        return unknown_result_message(choice)
    options = _options(group) or list(known)
    line = f"there is no {group} '{choice}'{did_you_mean(choice, options)}"
    if len(options) > 30:
        return f"{line}; `bythebook run --help` shows all {len(options)}"
    return f"{line}; allowed: {', '.join(options)}"


def _options(group: str) -> list[str]:
    if group == "study":
        return list(study_topics())
    return sorted(path.stem for path in (catalogue.CONF_DIR / group).glob("*.yaml"))
