"""What comes from outside is looked at before Hydra works with it.

Hydra imports and calls what the `hydra` part of a configuration names (callbacks, loggers), and it
does so before our own checks see the configuration. So the command line is checked first, and every
configuration as soon as it is composed, whatever file or override it came from.
"""

import argparse
import os
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import get_args_parser
from omegaconf import DictConfig, OmegaConf

from experiments.configuration.errors import no_choice
from experiments.contract.errors import BadInput
from experiments.contract.suggestions import meant
from experiments.running.provenance import redacted

DIGITS = 300  # of a number: a float has room for a few more
LONGEST = 100_000  # characters of an override: Hydra's parser takes minutes for a megabyte
_LOGGING = {"version": 1, "root": None, "disable_existing_loggers": False}
_GROUPS = r"[+~]*(experiment|study|tracking|launch)(@[^=]*)?="


def admitted(arguments: Sequence[str]) -> list[str]:
    """The command line without passwords; what no run needs (a path for a name) is refused."""
    for argument in arguments:
        if len(argument) > LONGEST:
            size = f"{len(argument):,} characters; allowed: {LONGEST:,}"
            raise BadInput(f"'{redacted(argument[:40])}...' has {size}")
    admitted = [_without_password(argument) for argument in arguments]
    for argument in admitted:
        if not argument.isprintable() and re.search(r"[\x00\ud800-\udfff]", argument):
            raise BadInput(f"{argument!a} is not text in UTF-8")
        if re.match(r"[+~]*=", argument):
            raise BadInput(f"'{argument}' names no key; allowed: key=value")
        if re.search(rf"\d{{{DIGITS + 1}}}", argument):
            raise BadInput(f"'{argument[:40]}...' has more than {DIGITS} digits in a number")
        if re.match(_GROUPS + r"\[", argument):
            raise BadInput(f"'{argument}': one name is allowed; -m with a,b sweeps over several")
        found = re.match(_GROUPS + r"((.*[,/(\s'\"])?(\.\.|/).*)", argument)
        if found:
            raise BadInput(f"there is no {found[1]} '{found[3]}': a name is allowed, not a path")
        nameless = re.fullmatch(_GROUPS + r"([-+.\d].*|true|false|)", argument, re.IGNORECASE)
        if nameless:
            raise BadInput(no_choice(nameless[1], nameless[3]))
    options, admitted = _parsed(admitted)
    if options.experimental_rerun is not None:
        raise BadInput("--experimental-rerun reads a pickle: not allowed")
    if options.config_path is not None or options.config_name is not None:
        raise BadInput("--config-path and --config-name: not allowed; --config-dir adds files")
    return admitted


def _parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Hydra's options, and the command line as its parser takes it: the overrides in one piece."""
    parser = get_args_parser()

    def refuse(message: str) -> NoReturn:
        flag = re.search(r"unrecognized arguments: (\S+)", message)
        known = [*re.findall(r"--[\w-]+", parser.format_usage()), "--dry-run"]
        hint = meant(flag[1], known) if flag else ""
        raise BadInput(f"{message}{hint}; `bythebook run --help` shows what there is")

    parser.error = refuse  # type: ignore[method-assign]
    options = parser.parse_intermixed_args(arguments)
    overrides = options.overrides
    starts = range(len(arguments) - len(overrides) + 1)
    if any(arguments[start : start + len(overrides)] == overrides for start in starts):
        return options, arguments
    waiting, flags = list(overrides), []
    for argument in arguments:
        if waiting and argument == waiting[0]:
            waiting.pop(0)
        else:
            flags.append(argument)
    return options, [*overrides, *flags]


def _without_password(argument: str) -> str:
    """An override with a password, without it: the address goes to where addresses may have one."""
    found = re.fullmatch(r"(\+*tracking\.uri=)(['\"]?)(\S+://\S*@\S+)\2", argument)
    if found:
        os.environ["MLFLOW_TRACKING_URI"] = found[3]
        return found[1] + "${oc.env:MLFLOW_TRACKING_URI}"
    if redacted(argument) != argument:
        raise BadInput(
            f"'{redacted(argument)}' holds a password; it belongs in MLFLOW_TRACKING_USERNAME and"
            " MLFLOW_TRACKING_PASSWORD"
        )
    return argument


@cache
def install() -> None:
    """Look at every configuration that Hydra composes."""
    load = ConfigLoaderImpl.load_configuration

    def checked(self: ConfigLoaderImpl, *arguments: Any, **options: Any) -> DictConfig:
        config = load(self, *arguments, **options)
        check(config)
        return config

    ConfigLoaderImpl.load_configuration = checked  # type: ignore[method-assign]


def check(config: DictConfig) -> None:
    """Refuse a configuration that names something to import or call, or a file by its path."""
    content = OmegaConf.to_container(config, resolve=False)
    assert isinstance(content, dict)
    hydra = content.pop("hydra", {})
    if hydra.get("callbacks"):
        raise BadInput("hydra.callbacks names something to import: not allowed")
    for part in ("sweeper", "launcher"):
        named = str((hydra.get(part) or {}).get("_target_"))
        if not named.startswith(("hydra_plugins.", "hydra._internal.core_plugins.")):
            raise BadInput(f"hydra.{part} names {named}: not allowed, not a plugin of Hydra's")
    for part in ("job_logging", "hydra_logging"):
        if hydra.get(part) != _LOGGING:
            raise BadInput(f"hydra.{part} is not `none`: a configuration may not set up logging")
    where = _targets(content)
    if where is not None:
        raise BadInput(f"{where} names something to import: not allowed, choose study=<name>")
    for group, choice in hydra.get("runtime", {}).get("choices", {}).items():
        if isinstance(choice, str) and ".." in choice.split("/"):
            raise BadInput(f"there is no {group} '{choice}': a name is allowed, not a path")


def _targets(node: Any, path: str = "") -> str | None:
    """The first key below a node that asks Hydra to import something."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    for key, value in node.items() if isinstance(node, dict) else ():
        here = f"{path}.{key}" if path else str(key)
        found = here if key == "_target_" else _targets(value, here)
        if found is not None:
            return found
    return None
