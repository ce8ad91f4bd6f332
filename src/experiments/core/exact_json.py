"""JSON that preserves every bit of a float, infinities and NaN included."""

import json
import math
from collections.abc import Mapping
from typing import Any

# JSON has no NaN or infinity: they are encoded as strings with a prefix. Text that begins with the
# prefix gets a second one.
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_FLOAT_PREFIX, _TEXT_PREFIX = "float:", "text:"


def dumps(value: Any, indent: int | None = None) -> str:
    """Strict JSON from which `loads` restores every float exactly."""
    try:
        text = json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError):  # NaN, an infinity, or a mapping other than a dict
        text = _FLOAT_PREFIX
    if _FLOAT_PREFIX not in text:
        return text
    return json.dumps(_encode(value), indent=indent, allow_nan=False, ensure_ascii=False)


def loads(text: str) -> Any:
    """The inverse of `dumps`."""
    value = json.loads(text)
    return _decode(value) if _FLOAT_PREFIX in text else value


def _encode(value: Any) -> Any:
    kind = type(value)  # the frequent types first: an array has hundreds of numbers
    if kind is list or kind is tuple:
        return [_encode(entry) for entry in value]
    if kind is int or kind is bool or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return _FLOAT_PREFIX + name
    if isinstance(value, str) and value.startswith(_FLOAT_PREFIX):
        return _FLOAT_PREFIX + _TEXT_PREFIX + value
    if isinstance(value, Mapping):
        return {key: _encode(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(entry) for entry in value]
    return value


def _decode(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FLOAT_PREFIX):
        rest = value.removeprefix(_FLOAT_PREFIX)
        if rest.startswith(_TEXT_PREFIX):
            return rest.removeprefix(_TEXT_PREFIX)
        return _SPECIAL.get(rest, value)
    if isinstance(value, dict):
        return {key: _decode(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_decode(entry) for entry in value]
    return value
