"""Validation of plain values against type annotations; an int is accepted for a float."""

import dataclasses
import sys
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


class InvalidValueError(Exception):
    """A value, or a value inside it (`value`), does not have the annotated type."""

    def __init__(self, value: Any) -> None:
        self.value = value


def build_dataclass(kind: Any, content: Any) -> Any:
    """An instance of a dataclass from plain values for some of its fields."""
    types = field_types(kind)
    if not isinstance(content, Mapping) or not content.keys() <= types.keys():
        raise InvalidValueError(content)
    values = {**default_values(kind), **content}
    return kind(**{name: convert(value, types[name]) for name, value in values.items()})


def default_values(kind: Any) -> dict[str, Any]:
    """The default values of a dataclass, not converted."""
    missing = dataclasses.MISSING
    values = {}
    for field in dataclasses.fields(kind):
        if field.default_factory is not missing:
            values[field.name] = field.default_factory()
        elif field.default is not missing:
            values[field.name] = field.default
    return values


@cache
def field_types(kind: Any) -> dict[str, Any]:
    """The type of each field of a dataclass."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def convert(value: Any, kind: Any) -> Any:
    """The value as its annotation requires: ints become floats where floats are annotated."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return build_dataclass(kind, value)
    if origin in (Union, UnionType):
        (other,) = (part for part in parts if part is not NoneType)
        return None if value is None else convert(value, other)
    if origin is list and type(value) is list:
        return [convert(entry, parts[0]) for entry in value]
    if origin is dict and type(value) is dict:
        return {convert(key, parts[0]): convert(entry, parts[1]) for key, entry in value.items()}
    if kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if origin is None and type(value) is kind:
        return value
    raise InvalidValueError(value)
