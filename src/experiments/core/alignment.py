"""Alignment of labelled arrays by axis name, and type checks of operands, for expressions."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bythebook.experiments.core.errors import single_line
from bythebook.models.types import AnyArray

MAX_ELEMENTS = 4_000_000  # of an intermediate array
Value = Any  # a Quantity with axes, or a plain number, boolean or text


class ExpressionError(ValueError):
    """An expression that is not valid, or not defined on this outcome; a one-line message."""

    def __init__(self, line: str) -> None:
        super().__init__(single_line(line))


class Labelled:
    """An array over named axes; `outcome.Quantity` adds everything else."""

    __slots__ = ("axes", "values")
    axes: tuple[Any, ...]
    values: AnyArray

    def __init__(self, values: Any, axes: Sequence[Any] = ()) -> None:
        self.values, self.axes = values, tuple(axes)

    @property
    def item(self) -> Any:
        """The number, boolean or text of an array without axes."""
        return self.values.item()

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(entry.name for entry in self.axes)


def to_scalar(value: Value) -> Value:
    """A plain value for a quantity without axes or a NumPy scalar; other values unchanged."""
    if isinstance(value, Labelled):
        return value if value.axes else value.item
    return value.item() if isinstance(value, np.generic) else value


def is_text(value: Value) -> bool:
    """Whether a value is text, or an array of text."""
    if isinstance(value, Labelled):
        return value.values.dtype.kind == "U"
    return isinstance(value, str)


def require_number(value: Value) -> Value:
    """The value, if it is not text and not a list."""
    if isinstance(value, tuple) or is_text(value):
        raise ExpressionError("a number is required here, not text or a list")
    return value


def single_value(value: Value) -> Value:
    """The number, boolean or text of an array with one element; other values unchanged."""
    if isinstance(value, Labelled) and value.values.size == 1:
        return value.values.item()
    return value


def require_scalar(value: Value, where: str) -> Any:
    """The value, if it is not an array of several elements."""
    value = single_value(value)
    if isinstance(value, Labelled):
        axes = ", ".join(value.dims)
        raise ExpressionError(f"{where} requires a single value, not an array over {axes}")
    return value


def require_bool(value: Value, where: str) -> Value:
    """The value, if it is a boolean or an array of booleans."""
    if isinstance(value, Labelled) and value.values.dtype.kind == "b":
        return value
    if not isinstance(value, bool):
        raise ExpressionError(f"{where} requires comparisons; allowed: a < b and c < d")
    return value


def apply_elementwise(function: Any, *values: Value) -> Value:
    """Apply a function elementwise to values whose axes are matched by name.

    An array with one element counts as a number if its coordinates match no other's.
    """
    if not any(isinstance(value, Labelled) for value in values):
        return to_scalar(np.asarray(function(*values)).item())
    axes: list[Any] = []
    for value in values:
        for entry in value.axes if isinstance(value, Labelled) else ():
            known = next((other for other in axes if other.name == entry.name), None)
            if known is None:
                axes.append(entry)
            elif not known.equals(entry):
                numbers = [single_value(value) for value in values]
                if sum(isinstance(number, Labelled) for number in numbers) < 2:
                    return apply_elementwise(function, *numbers)
                require_equal(known, entry)
    if math.prod(len(entry) for entry in axes) > MAX_ELEMENTS:
        raise ExpressionError(f"an array has more than {MAX_ELEMENTS:,} elements")
    order = [entry.name for entry in axes]
    array = next(value for value in values if isinstance(value, Labelled))
    return type(array)(function(*(align(value, order) for value in values)), axes)


def require_equal(axis: Any, other: Any) -> None:
    """Refuse two axes of one name with different coordinates."""
    if not axis.equals(other):
        raise ExpressionError(
            f"the coordinates of axis {axis.name} do not match:"
            f" {axis.format(4)} and {other.format(4)}"
        )


def align(value: Value, order: Sequence[str]) -> Any:
    """The values with their axes in this order, and length 1 along every other axis."""
    if not isinstance(value, Labelled):
        return value
    transposed = np.transpose(
        value.values, sorted(range(value.values.ndim), key=lambda i: order.index(value.dims[i]))
    )
    shape = iter(transposed.shape)
    return transposed.reshape([next(shape) if name in value.dims else 1 for name in order])


def broadcast_like(value: Value, array: Labelled) -> AnyArray:
    """The values of an operand in the shape of the result of an elementwise operation."""
    if isinstance(value, Labelled) and not set(value.dims) <= set(array.dims):
        value = single_value(value)
    return np.broadcast_to(align(value, array.dims), array.values.shape)
