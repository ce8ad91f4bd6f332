"""The command line of `run`: Hydra's flags and grammar, looked at before Hydra works with it."""

import argparse
import dataclasses
import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from hydra.core.override_parser.types import Override

from experiments.configuration import catalogue
from experiments.configuration.compose import parsed
from experiments.configuration.errors import no_choice, no_such, shortened, unreadable
from experiments.configuration.passwords import redacted
from experiments.configuration.schema import Root
from experiments.contract.errors import BadInput
from experiments.contract.study import studies
from experiments.contract.suggestions import meant

DIGITS = 300  # of a number: a float has room for a few more
LONGEST = 100_000  # characters of an override: Hydra's parser takes minutes for a megabyte
GROUPS = ("experiment", "study", "tracking", "launch")
_GROUP = rf"[+~]*({'|'.join(GROUPS)})(@[^=]*)?="
_FROM_ENVIRONMENT = "${oc.env:MLFLOW_TRACKING_URI,null}"
_NOT_FLAGS = {
    "--experimental-rerun": "reads a pickle",
    "--config-path": "--config-dir adds files",
    "--config-name": "--config-dir adds files",
    "-cp": "--config-dir adds files",
    "-cn": "--config-dir adds files",
}


@dataclass(frozen=True)
class Arguments:
    """A command line, read."""

    words: list[str]  # the overrides as they were typed, without passwords
    overrides: list[Override]
    config_dirs: list[str] = field(default_factory=list)
    sweep: bool = False
    dry_run: bool = False
    cfg: str | None = None
    package: str | None = None
    resolve: bool = False
    info: str | None = None
    outputs: str | None = None
    tags: list[str] = field(default_factory=list)  # NAME=VALUE


def read(arguments: Sequence[str]) -> Arguments:
    """Flags and overrides; what no run needs (a path for a name) is refused."""
    for word in arguments:
        _check_text(word)
    options = _flags().parse_intermixed_args([_without_password(word) for word in arguments])
    words = [_named(word) for word in options.overrides]
    for word in words:
        _check_word(word)
    overrides = parsed(words)
    _check_keys(overrides, files=bool(options.config_dir))
    return Arguments(
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
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; `bythebook run --help` shows what there is")


def _flags() -> argparse.ArgumentParser:
    parser = _Parser("bythebook run", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
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
    if len(word) > LONGEST:
        size = f"{len(word):,} characters; allowed: {LONGEST:,}"
        raise BadInput(f"'{redacted(word[:40])}...' has {size}")
    if not word.isprintable() and re.search(r"[\x00\ud800-\udfff]", word):
        raise BadInput(f"{word!a} is not text in UTF-8")
    flag = word.partition("=")[0]
    if flag in _NOT_FLAGS:
        raise BadInput(f"{flag}: not allowed, {_NOT_FLAGS[flag]}")
    known = [name for action in _flags()._actions for name in action.option_strings]
    if word.startswith("-") and flag not in known:
        hint = meant(flag, [*known, "--help", "--hydra-help"])
        line = f"'{word}' is not understood{hint}"
        raise BadInput(f"{line}; `bythebook run --help` shows what there is")


def _named(word: str) -> str:
    """An experiment may stand for itself, and an expression needs no quotes of its own."""
    found = re.fullmatch(r"metric=([^'\"].*)", word)
    if found:
        quote = '"' if "'" in found[1] else "'"
        return f"metric={quote}{found[1]}{quote}"
    return f"experiment={word}" if word in catalogue.names() else word


def _check_word(word: str) -> None:
    if re.match(r"[+~]*=", word):
        raise BadInput(f"'{word}' names no key; allowed: key=value")
    if re.match(r"(study|experiment):\w", word):
        group, _, name = word.partition(":")
        raise BadInput(
            f"'{word}' is for other commands; here it is {group}={_nearest(group, name)}"
        )
    if "=" not in word and not word.startswith("~"):
        raise BadInput(unreadable(word))
    if re.search(r"\$\\*\{", word.removesuffix(_FROM_ENVIRONMENT)):
        raise BadInput(
            f"'{shortened(word)}' calls a resolver or another setting (${{...}}): not allowed;"
            " the shell fills in variables"
        )
    if re.search(rf"\d{{{DIGITS + 1}}}", word):
        raise BadInput(f"'{word[:40]}...' has more than {DIGITS} digits in a number")
    if re.match(_GROUP + r"\[", word):
        raise BadInput(f"'{word}': one name is allowed; -m with a,b sweeps over several")
    found = re.match(_GROUP + r"((.*[,/(\s'\"])?(\.\.|/).*)", word)
    if found:
        raise BadInput(f"there is no {found[1]} '{found[3]}': a name is allowed, not a path")
    nameless = re.fullmatch(_GROUP + r"([-+.\d].*|true|false|)", word, re.IGNORECASE)
    if nameless:
        raise BadInput(no_choice(nameless[1], nameless[3]))


def _without_password(word: str) -> str:
    """An override with a password, without it: the address goes to where addresses may have one."""
    found = re.fullmatch(r"(\+*tracking\.uri=)(['\"]?)(\S+://\S*@\S+)\2", word)
    if found:
        os.environ["MLFLOW_TRACKING_URI"] = found[3]
        return found[1] + _FROM_ENVIRONMENT
    if redacted(word) != word:
        raise BadInput(
            f"'{redacted(word)}' holds a password; it belongs in MLFLOW_TRACKING_USERNAME and"
            " MLFLOW_TRACKING_PASSWORD"
        )
    return word


def _check_keys(overrides: list[Override], *, files: bool) -> None:
    """Keys that are not there, and choices that are not, before Hydra is asked."""
    names = [entry.name for entry in dataclasses.fields(Root)]
    study = None if files else _study(overrides)
    knobs = [entry.name for entry in dataclasses.fields(studies()[study])] if study else []
    chosen = any(override.key_or_group in ("study", "experiment") for override in overrides)
    for override in overrides:
        key = override.key_or_group
        top, _, rest = key.partition(".")
        if top.partition("/")[0] == "hydra":
            raise BadInput(
                f"'{override.input_line}' has no effect: Hydra only composes here;"
                " outputs=, jobs= and launch= say where and how to run"
            )
        if key in ("study", "experiment") and not files:
            _check_choice(override)
        if override.is_add() or override.is_force_add():
            continue
        if top not in (*names, *GROUPS):
            if top in knobs or (study is None and _is_knob(top)):
                raise BadInput(f"there is no '{key}' (did you mean 'study.{key}'?)")
            raise BadInput(no_such(key, [*names, "experiment"]))
        if top == "study" and rest and not chosen:
            raise BadInput(
                f"'{override.input_line}' sets a knob of no study; give a result (fcml/fig-1.15)"
                " or study=<name> as well"
            )
        if top == "study" and rest and study and rest.partition(".")[0] not in knobs:
            raise BadInput(no_such(f"study.{rest}", knobs))


def _nearest(group: str, name: str) -> str:
    known = list(studies()) if group == "study" else catalogue.names()
    begins = [choice for choice in known if choice.startswith(name)]
    return next(iter([*begins[:1], *difflib.get_close_matches(name, known, n=1)]), "<name>")


def _is_knob(name: str) -> bool:
    """Does any study have a knob of this name? Only asked when something is misspelt."""
    kinds = (studies()[study] for study in studies())
    return any(name == entry.name for kind in kinds for entry in dataclasses.fields(kind))


def _check_choice(override: Override) -> None:
    """A single name that does not exist; what is swept is looked at when it is composed."""
    if override.is_delete() or override.is_sweep_override() or override.package is not None:
        return
    name, group = override.get_value_element_as_str(), override.key_or_group
    if name != "null" and name not in (studies() if group == "study" else catalogue.names()):
        raise BadInput(no_choice(group, name))


def _study(overrides: list[Override]) -> str | None:
    """The study that a command line is about, where it leaves no doubt."""
    found = None
    for override in overrides:
        if override.is_delete() or override.is_sweep_override():
            continue
        name = override.get_value_element_as_str()
        if override.key_or_group == "study" and name in studies():
            return name
        if override.key_or_group == "experiment" and name in catalogue.names():
            found = catalogue.heading(name).study
    return found if found in studies() else None
