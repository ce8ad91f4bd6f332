"""Knobs: the parameters of a study, as dataclass fields with types, bounds and documentation.

The type is the annotation, which is checked when the configuration is composed. The bounds are
metadata of the field, which are checked when the study is instantiated. Both messages name the
parameter, its value and the allowed values.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from bythebook.models import datasets

T = TypeVar("T")


def knob(
    default: T,
    doc: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    choices: Sequence[Any] = (),
    distinct: bool = False,
    may_be_empty: bool = False,
    dataset: bool | str = False,
) -> T:
    """A dataclass field with its documentation and its allowed values.

    Bounds and choices apply to every entry of a list, and a list must not be empty unless
    `may_be_empty`. `distinct` forbids duplicates. `dataset` marks the name of a data set: of a
    table, or of the kind in the argument (`datasets.KINDS`).
    """
    bounds = [
        (symbol, bound)
        for symbol, bound in ((">=", at_least), (">", above), ("<=", at_most), ("<", below))
        if bound is not None
    ]
    metadata = {
        "doc": doc,
        "bounds": bounds,
        "choices": tuple(choices),
        "distinct": distinct,
        "may_be_empty": may_be_empty,
        "dataset": datasets.TABLE if dataset is True else dataset,
    }
    if isinstance(default, list | dict):
        return dataclasses.field(default_factory=lambda: default.copy(), metadata=metadata)  # type: ignore[return-value]
    return dataclasses.field(default=default, metadata=metadata)


_COMPARISONS = {
    ">=": lambda value, bound: value >= bound,
    ">": lambda value, bound: value > bound,
    "<=": lambda value, bound: value <= bound,
    "<": lambda value, bound: value < bound,
}


def describe_constraints(field: dataclasses.Field[Any]) -> str:
    """The allowed values of a knob as text: `int, >= 0`, `str, one of a, b`."""
    meta = field.metadata
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
    if not isinstance(field.type, type) or hasattr(field.type, "__args__"):
        kind = str(field.type).replace("typing.", "")
    parts = [part for part in get_args(field.type) if dataclasses.is_dataclass(part)]
    if parts:  # a list of mappings
        kind = f"a list of {{{', '.join(entry.name for entry in dataclasses.fields(parts[0]))}}}"
    words = kind
    if meta.get("choices"):
        words += f", one of {', '.join(map(str, meta['choices']))}"
    if meta.get("dataset"):
        words += f", one of {', '.join(datasets.names(meta['dataset']))}"
    if meta.get("bounds"):
        words += ", " + " and ".join(f"{symbol} {bound:g}" for symbol, bound in meta["bounds"])
    if meta.get("distinct"):
        words += ", without duplicates"
    return words


def problems(study: Any) -> Iterator[str]:
    """One line for each parameter whose value is not allowed."""
    for field in dataclasses.fields(study):
        value, meta = getattr(study, field.name), field.metadata
        if value is None or not meta:
            continue
        entries = value if isinstance(value, list) else [value]
        if isinstance(value, list) and not value and not meta["may_be_empty"]:
            allowed = f"{describe_constraints(field)}, at least one entry"
            yield f"study.{field.name}=[] is empty; allowed: {allowed}"
        if meta["distinct"] and len(set(entries)) < len(entries):
            setting = f"study.{field.name}={_shorten(value)}"
            yield f"{setting} repeats an entry; allowed: {describe_constraints(field)}"
        for entry in _leaves(value):
            if not is_valid_value(field, entry):
                setting = f"study.{field.name}={_shorten(value)}"
                allowed = describe_constraints(field)
                yield f"{setting}: {_shorten(entry)} is not allowed; allowed: {allowed}"
                break


def is_valid_value(field: dataclasses.Field[Any], entry: Any) -> bool:
    """Whether a value is among the choices of a knob and within its bounds."""
    meta = field.metadata
    choices = datasets.names(meta["dataset"]) if meta["dataset"] else meta["choices"]
    if choices and entry not in choices:
        return False
    if isinstance(entry, float) and not math.isfinite(entry):
        return False
    number = isinstance(entry, int | float)
    return not number or all(_COMPARISONS[symbol](entry, bound) for symbol, bound in meta["bounds"])


def _leaves(value: Any) -> Iterator[Any]:
    """The entries of nested lists and mappings."""
    if not isinstance(value, list | dict):
        yield value
        return
    for entry in value.values() if isinstance(value, dict) else value:
        yield from _leaves(entry)


def _shorten(value: Any) -> str:
    text = str(value).replace(" ", "")
    return text if len(text) <= 60 else text[:57] + "..."
