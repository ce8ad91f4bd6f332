"""JSON that keeps every bit: floats to the last digit, infinities and NaN included."""

import json
import math
from collections.abc import Mapping
from typing import Any

# JSON has no NaN or infinity; they travel as marked strings, and so does a text with that mark.
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MARK, _TEXT = "float:", "text:"


def dumps(value: Any, indent: int | None = None) -> str:
    """Strict JSON, floats to the last bit."""
    try:
        text = json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError):  # not a number JSON has, or a mapping other than a dict
        text = _MARK
    if _MARK not in text:
        return text
    return json.dumps(_encode(value), indent=indent, allow_nan=False, ensure_ascii=False)


def loads(text: str) -> Any:
    """The inverse of `dumps`."""
    value = json.loads(text)
    return _decode(value) if _MARK in text else value


def _encode(value: Any) -> Any:
    kind = type(value)  # what there is most of, first: an array has hundreds of numbers
    if kind is list or kind is tuple:
        return [_encode(entry) for entry in value]
    if kind is int or kind is bool or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return _MARK + ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if isinstance(value, str) and value.startswith(_MARK):
        return _MARK + _TEXT + value
    if isinstance(value, Mapping):
        return {key: _encode(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(entry) for entry in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_MARK):
        rest = value.removeprefix(_MARK)
        return rest.removeprefix(_TEXT) if rest.startswith(_TEXT) else _SPECIAL.get(rest, value)
    if isinstance(value, dict):
        return {key: _decode(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_decode(entry) for entry in value]
    return value
