"""Alignment of labelled arrays by axis name, and type checks of operands, for expressions."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bythebook.experiments.core.errors import single_line
from bythebook.experiments.core.outcome import Axis, Quantity

MAX_ELEMENTS = 4_000_000  # of an intermediate array
Value = Any  # a Quantity with axes, or a plain number, boolean or text


class ExpressionError(ValueError):
    """An expression that is not valid, or not defined on this outcome; a one-line message."""

    def __init__(self, line: str) -> None:
        super().__init__(single_line(line))


def to_scalar(value: Value) -> Value:
    """A plain value for a quantity without axes or a NumPy scalar; other values unchanged."""
    if isinstance(value, Quantity):
        return value if value.axes else value.item
    return value.item() if isinstance(value, np.generic) else value


def is_text(value: Value) -> bool:
    """Whether a value is text, or an array of text."""
    if isinstance(value, Quantity):
        return value.values.dtype.kind == "U"
    return isinstance(value, str)


def require_number(value: Value) -> Value:
    """The value, if it is not text and not a list."""
    if isinstance(value, tuple) or is_text(value):
        raise ExpressionError("a number is required here, not text or a list")
    return value


def require_scalar(value: Value, where: str) -> Any:
    """The value, if it is not an array."""
    if isinstance(value, Quantity):
        axes = ", ".join(value.dims)
        raise ExpressionError(f"{where} requires a single value, not an array over {axes}")
    return value


def require_bool(value: Value, where: str) -> Value:
    """The value, if it is a boolean or an array of booleans."""
    if isinstance(value, Quantity) and value.values.dtype.kind == "b":
        return value
    if not isinstance(value, bool):
        raise ExpressionError(f"{where} requires comparisons; allowed: a < b and c < d")
    return value


def apply_elementwise(function: Any, *values: Value) -> Value:
    """Apply a function elementwise to values whose axes are matched by name."""
    if not any(isinstance(value, Quantity) for value in values):
        return to_scalar(np.asarray(function(*values)).item())
    axes: list[Axis] = []
    for value in values:
        for entry in value.axes if isinstance(value, Quantity) else ():
            known = next((other for other in axes if other.name == entry.name), None)
            if known is None:
                axes.append(entry)
            else:
                require_equal(known, entry)
    if math.prod(len(entry) for entry in axes) > MAX_ELEMENTS:
        raise ExpressionError(f"an array has more than {MAX_ELEMENTS:,} elements")
    order = [entry.name for entry in axes]
    return Quantity(function(*(align(value, order) for value in values)), axes)


def require_equal(axis: Axis, other: Axis) -> None:
    """Refuse two axes of one name with different coordinates."""
    if not axis.equals(other):
        raise ExpressionError(
            f"the coordinates of axis {axis.name} do not match:"
            f" {axis.format(4)} and {other.format(4)}"
        )


def align(value: Value, order: Sequence[str]) -> Any:
    """The values with their axes in this order, and length 1 along every other axis."""
    if not isinstance(value, Quantity):
        return value
    transposed = np.transpose(
        value.values, sorted(range(value.values.ndim), key=lambda i: order.index(value.dims[i]))
    )
    shape = iter(transposed.shape)
    return transposed.reshape([next(shape) if name in value.dims else 1 for name in order])
