"""Parser of the command line of `run`: Hydra's flags and overrides, checked before composition."""

import argparse
import dataclasses
import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from hydra.core.override_parser.types import Override

from bythebook.experiments.config import catalogue
from bythebook.experiments.config.credentials import redact_credentials
from bythebook.experiments.config.former_names import present_name
from bythebook.experiments.config.hydra_compose import parse_overrides
from bythebook.experiments.config.hydra_errors import (
    invalid_override_message,
    truncate,
    unknown_choice_message,
    unknown_key_message,
)
from bythebook.experiments.config.result_names import find_result
from bythebook.experiments.config.schema import RunConfig
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.study import studies
from bythebook.experiments.core.suggestions import did_you_mean

MAX_DIGITS = 300  # of a number: floats end at 1.8e308
MAX_OVERRIDE_CHARS = 100_000  # Hydra's parser takes minutes for a megabyte
GROUPS = ("experiment", "study", "launcher")
_GROUP = rf"[+~]*({'|'.join(GROUPS)})(@[^=]*)?="
_TRACKING_URI_FROM_ENVIRONMENT = "${oc.env:MLFLOW_TRACKING_URI,null}"
_REJECTED_FLAGS = {
    "--experimental-rerun": "it reads a pickle",
    "--config-path": "--config-dir adds files",
    "--config-name": "--config-dir adds files",
    "-cp": "--config-dir adds files",
    "-cn": "--config-dir adds files",
}


@dataclass(frozen=True)
class CommandLine:
    """The parsed command line of `run`."""

    words: list[str]  # the overrides as text, without passwords
    overrides: list[Override]
    config_dirs: list[str] = field(default_factory=list)
    sweep: bool = False
    dry_run: bool = False
    cfg: str | None = None
    package: str | None = None
    resolve: bool = False
    info: str | None = None
    outputs: str | None = None
    tags: list[str] = field(default_factory=list)  # NAME=VALUE each
    verbose: bool = False


def parse_command_line(arguments: Sequence[str]) -> CommandLine:
    """Flags and overrides; invalid ones are refused before Hydra parses them."""
    for word in arguments:
        _check_text(word)
    options = _flags().parse_intermixed_args([_strip_password(word) for word in arguments])
    user_files = bool(options.config_dir)
    words = [_expand_shorthand(word, user_files=user_files) for word in options.overrides]
    for word in words:
        _check_override(word)
    overrides = parse_overrides(words)
    _check_keys(overrides, user_files=user_files)
    return CommandLine(
        words,
        overrides,
        options.config_dir,
        options.multirun,
        options.dry_run,
        options.cfg,
        options.package,
        options.resolve,
        options.info,
        options.outputs,
        options.tag,
        options.verbose,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; `bythebook run --help` lists the options")


def _flags() -> argparse.ArgumentParser:
    parser = _Parser("bythebook run", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--outputs")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("-c", "--cfg", choices=("job", "hydra", "all"))
    parser.add_argument("-p", "--package")
    parser.add_argument("-r", "--resolve", action="store_true")
    parser.add_argument("-cd", "--config-dir", action="append", default=[])
    topics = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
    parser.add_argument("-i", "--info", nargs="?", const="all", choices=topics)
    return parser


def _check_text(word: str) -> None:
    if len(word) > MAX_OVERRIDE_CHARS:
        size = f"{len(word):,} characters; allowed: {MAX_OVERRIDE_CHARS:,}"
        raise InputError(f"'{redact_credentials(word[:40])}...' has {size}")
    if not word.isprintable() and re.search(r"[\x00\ud800-\udfff]", word):
        raise InputError(f"{word!a} is not text in UTF-8")
    flag = word.partition("=")[0]
    if flag in _REJECTED_FLAGS:
        raise InputError(f"{flag} is not allowed: {_REJECTED_FLAGS[flag]}")
    known = [name for action in _flags()._actions for name in action.option_strings]
    if word.startswith("-") and flag not in known:
        hint = did_you_mean(flag, [*known, "--help", "--hydra-help"])
        line = f"unknown argument '{word}'{hint}"
        raise InputError(f"{line}; `bythebook run --help` lists the options")


def _expand_shorthand(word: str, *, user_files: bool) -> str:
    """Write the name of a result as `experiment=<name>`, and quote an expression."""
    metric = re.fullmatch(r"metric=([^'\"].*)", word)
    if metric:
        quote = '"' if "'" in metric[1] else "'"
        return f"metric={quote}{metric[1]}{quote}"
    name = word.removeprefix("experiment=")
    result = None if user_files and name != word else find_result(name)
    return word if result is None else f"experiment={result}"


def _check_override(word: str) -> None:
    if re.match(r"[+~]*=", word):
        raise InputError(f"'{word}' has no name; allowed: <name>=<value>")
    if re.match(r"(study|experiment):\w", word):
        group, _, name = word.partition(":")
        raise InputError(
            f"'{word}' is not a setting; allowed: {group}={_closest_name(group, name)}"
        )
    if "=" not in word and not word.startswith("~"):
        raise InputError(invalid_override_message(word))
    if re.search(r"\$\\*\{", word.removesuffix(_TRACKING_URI_FROM_ENVIRONMENT)):
        raise InputError(
            f"'{truncate(word)}': interpolation (${{...}}) is not allowed;"
            " use variables of the shell instead"
        )
    if re.search(rf"\d{{{MAX_DIGITS + 1}}}", word):
        raise InputError(f"'{word[:40]}...' has more than {MAX_DIGITS} digits in a number")
    if re.match(_GROUP + r"\[", word):
        raise InputError(f"'{word}' is not a single name; allowed: one name, or -m with a,b")
    path = re.match(_GROUP + r"((.*[,/(\s'\"])?(\.\.|/).*)", word)
    if path:
        raise InputError(f"there is no {path[1]} '{path[3]}'; allowed: a name, not a path")
    not_a_name = re.fullmatch(_GROUP + r"([-+.\d].*|true|false|)", word, re.IGNORECASE)
    if not_a_name:
        raise InputError(unknown_choice_message(not_a_name[1], not_a_name[3]))


def _strip_password(word: str) -> str:
    """Move a tracking address with a password to the environment; refuse other passwords."""
    address = re.fullmatch(r"(\+*tracking_uri=)(['\"]?)(\S+://\S*@\S+)\2", word)
    if address:
        os.environ["MLFLOW_TRACKING_URI"] = address[3]
        return address[1] + _TRACKING_URI_FROM_ENVIRONMENT
    if redact_credentials(word) != word:
        raise InputError(
            f"'{redact_credentials(word)}' contains a password; use MLFLOW_TRACKING_USERNAME and"
            " MLFLOW_TRACKING_PASSWORD instead"
        )
    return word


def _check_keys(overrides: list[Override], *, user_files: bool) -> None:
    """Refuse unknown keys and choices; with files of the user, Hydra checks the choices."""
    names = [entry.name for entry in dataclasses.fields(RunConfig)]
    study = None if user_files else _study(overrides)
    knobs = [entry.name for entry in dataclasses.fields(studies()[study])] if study else []
    has_study = any(override.key_or_group in ("study", "experiment") for override in overrides)
    for override in overrides:
        key = override.key_or_group
        top, _, rest = key.partition(".")
        if top.partition("/")[0] == "hydra":
            raise InputError(
                f"'{override.input_line}': hydra.* settings are not allowed;"
                " use outputs=, jobs= and launcher= instead"
            )
        if present := present_name(key):
            raise InputError(f"'{key}' is called '{present}' now")
        if key in ("study", "experiment") and not user_files:
            _check_choice(override)
        if override.is_add() or override.is_force_add():
            continue
        if top not in (*names, *GROUPS):
            if top in knobs or (study is None and _is_knob(top)):
                raise InputError(f"there is no '{key}' (did you mean 'study.{key}'?)")
            raise InputError(unknown_key_message(key, [*names, "experiment"]))
        if top == "study" and rest and not has_study:
            raise InputError(
                f"'{override.input_line}' requires a study;"
                " add a result (fcml/fig-1.15) or study=<name>"
            )
        if top == "study" and rest and study and rest.partition(".")[0] not in knobs:
            raise InputError(unknown_key_message(f"study.{rest}", knobs))


def _closest_name(group: str, name: str) -> str:
    known = list(studies()) if group == "study" else catalogue.experiment_names()
    completions = [choice for choice in known if choice.startswith(name)]
    return next(iter([*completions[:1], *difflib.get_close_matches(name, known, n=1)]), "<name>")


def _is_knob(name: str) -> bool:
    """Whether any study has a parameter of this name (imports all studies)."""
    kinds = (studies()[study] for study in studies())
    return any(name == entry.name for kind in kinds for entry in dataclasses.fields(kind))


def _check_choice(override: Override) -> None:
    """Refuse an unknown study or experiment; swept names are checked when they are composed."""
    if override.is_delete() or override.is_sweep_override() or override.package is not None:
        return
    name, group = override.get_value_element_as_str(), override.key_or_group
    if name != "null" and name not in (
        studies() if group == "study" else catalogue.experiment_names()
    ):
        raise InputError(unknown_choice_message(group, name))


def _study(overrides: list[Override]) -> str | None:
    """The study that a command line selects, if it is certain."""
    selected = None
    for override in overrides:
        if override.is_delete() or override.is_sweep_override():
            continue
        name = override.get_value_element_as_str()
        if override.key_or_group == "study" and name in studies():
            return name
        if override.key_or_group == "experiment" and name in catalogue.experiment_names():
            selected = catalogue.load_heading(name).study
    return selected if selected in studies() else None
