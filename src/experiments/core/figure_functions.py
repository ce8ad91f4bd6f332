"""The figures that a result shows: names of functions of its figure module, and arguments.

    figures: [losses, fits]                        names
    figures: {losses: [loo_loss], fits: [1, 8]}    names with arguments

The functions of a module are read from its syntax tree, because an experiment file is validated
without Matplotlib. A function that draws returns `Iterator[Panel]`.
"""

import ast
import importlib
import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.suggestions import did_you_mean

PACKAGE = "bythebook.experiments.figures"
RETURNED = "Iterator[Panel]"
FigureArguments = dict[str, list[Any]]  # the arguments of each function, by its name
_TYPES: dict[str, Any] = {"int": int, "float": int | float, "str": str, "bool": bool}


def figure_functions(topic: str, study: str) -> Mapping[str, inspect.Signature]:
    """The signatures of a study's figure functions, in the order of the module."""
    folders = importlib.import_module(PACKAGE).__path__
    paths = (Path(folder) / topic / f"{study}.py" for folder in folders)
    return next((_read_signatures(path) for path in paths if path.is_file()), {})


@cache
def _read_signatures(path: Path) -> Mapping[str, inspect.Signature]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name: _signature(node.args)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and node.returns is not None
        and ast.unparse(node.returns) == RETURNED
    }


def _signature(args: ast.arguments) -> inspect.Signature:
    kinds = inspect.Parameter
    plain = [*args.posonlyargs, *args.args]
    required = len(plain) - len(args.defaults)
    parameters = [
        _parameter(
            arg, kinds.POSITIONAL_ONLY, None if k < required else args.defaults[k - required]
        )
        for k, arg in enumerate(plain)
    ]
    if args.vararg is not None:
        parameters.append(_parameter(args.vararg, kinds.VAR_POSITIONAL))
    return inspect.Signature(parameters)


def _parameter(arg: ast.arg, kind: Any, default: ast.expr | None = None) -> inspect.Parameter:
    text = "" if arg.annotation is None else ast.unparse(arg.annotation)
    value = inspect.Parameter.empty if default is None else ast.unparse(default)
    return inspect.Parameter(arg.arg, kind, default=value, annotation=text)


def needs_arguments(signature: inspect.Signature) -> bool:
    """Whether a function cannot be called without arguments."""
    variadic = inspect.Parameter.VAR_POSITIONAL
    return any(
        p.default is p.empty and p.kind is not variadic for p in signature.parameters.values()
    )


def parse_figures(topic: str, study: str, content: Any) -> FigureArguments:
    """The figures of an experiment file, as names with arguments; invalid ones are refused."""
    if content is None:
        return {}
    if isinstance(content, list):
        names = [name for name in content if isinstance(name, str)]
        if len(names) < len(content) or len(set(names)) < len(names):
            raise InputError(f"figures={content} is not allowed; allowed: a list of distinct names")
        content = {name: [] for name in names}
    if not isinstance(content, dict):
        allowed = "[name, ...] or {name: [arguments]}"
        raise InputError(f"figures={content} is not allowed; allowed: {allowed}")
    known = figure_functions(topic, study)
    for name, arguments in content.items():
        if name not in known:
            raise InputError(
                f"figures: study {study} has no figure '{name}'{did_you_mean(str(name), known)};"
                f" allowed: {', '.join(known) or 'none'}"
            )
        _check_arguments(name, arguments, known[name])
    return {name: list(arguments) for name, arguments in content.items()}


def _check_arguments(name: str, arguments: Any, signature: inspect.Signature) -> None:
    allowed = f"allowed: {name}({', '.join(map(_describe, signature.parameters.values()))})"
    if not isinstance(arguments, list):
        raise InputError(f"figures: the arguments of {name} are not a list; {allowed}")
    try:
        bound = signature.bind(*arguments)
    except TypeError as error:
        raise InputError(f"figures: {name}{tuple(arguments)}: {error}; {allowed}") from None
    for parameter in signature.parameters.values():
        given = bound.arguments.get(parameter.name, ())
        values = given if parameter.kind is parameter.VAR_POSITIONAL else [given]
        allowed_type = _TYPES.get(parameter.annotation, object)
        for value in values if parameter.name in bound.arguments else ():
            is_number = parameter.annotation in ("int", "float")
            if not isinstance(value, allowed_type) or (is_number and isinstance(value, bool)):
                raise InputError(
                    f"figures: {name}: {parameter.name}={value!r} is not allowed; {allowed}"
                )


def _describe(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    default = "" if parameter.default is parameter.empty else f" = {parameter.default}"
    return f"{star}{parameter.name}: {parameter.annotation}{default}"
