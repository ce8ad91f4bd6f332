"""Values as their annotations have them: a whole number may stand for a float, nothing else."""

import dataclasses
import sys
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


class Unfit(Exception):
    """The value, or one inside it, is not of the type, as it stands."""

    def __init__(self, value: Any) -> None:
        self.value = value


def built(kind: Any, content: Any) -> Any:
    """An instance of a dataclass from plain values for some of its fields."""
    types = field_types(kind)
    if not isinstance(content, Mapping) or not content.keys() <= types.keys():
        raise Unfit(content)
    values = {**defaults(kind), **content}
    return kind(**{name: fit(value, types[name]) for name, value in values.items()})


def defaults(kind: Any) -> dict[str, Any]:
    """The defaults of a dataclass, as they are written."""
    missing = dataclasses.MISSING
    found = {}
    for field in dataclasses.fields(kind):
        if field.default_factory is not missing:
            found[field.name] = field.default_factory()
        elif field.default is not missing:
            found[field.name] = field.default
    return found


@cache
def field_types(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def fit(value: Any, kind: Any) -> Any:
    """The value, with floats for the whole numbers that stand for them, at any depth."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return built(kind, value)
    if origin in (Union, UnionType):
        (other,) = (part for part in parts if part is not NoneType)
        return None if value is None else fit(value, other)
    if origin is list and type(value) is list:
        return [fit(entry, parts[0]) for entry in value]
    if origin is dict and type(value) is dict:
        return {fit(key, parts[0]): fit(entry, parts[1]) for key, entry in value.items()}
    if kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if origin is None and type(value) is kind:
        return value
    raise Unfit(value)
