"""How the values of an expression meet: arrays by the names of their axes, within bounds."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.contract.errors import one_line
from experiments.contract.outcome import Axis, Quantity

MOST_ENTRIES = 4_000_000  # of an intermediate array
Value = Any  # a Quantity with axes, or a plain number, truth value or word


class BadExpression(ValueError):
    """An expression that cannot be read, or not be evaluated on this outcome; told in one line."""

    def __init__(self, line: str) -> None:
        super().__init__(one_line(line))


def unwrapped(value: Value) -> Value:
    if isinstance(value, Quantity):
        return value if value.axes else value.item
    return value.item() if isinstance(value, np.generic) else value


def is_text(value: Value) -> bool:
    if isinstance(value, Quantity):
        return value.values.dtype.kind == "U"
    return isinstance(value, str)


def number(value: Value) -> Value:
    if isinstance(value, tuple) or is_text(value):
        raise BadExpression("a number is needed here, not a word or a list")
    return value


def single(value: Value, where: str) -> Any:
    if isinstance(value, Quantity):
        raise BadExpression(f"{where} takes one value, not an array over {', '.join(value.names)}")
    return value


def truths(value: Value, where: str) -> Value:
    """A truth value, or an array of them."""
    if isinstance(value, Quantity) and value.values.dtype.kind == "b":
        return value
    if not isinstance(value, bool):
        raise BadExpression(f"{where} needs comparisons: a < b and c < d")
    return value


def elementwise(function: Any, *values: Value) -> Value:
    """Apply a function place by place; arrays meet by the names of their axes."""
    if not any(isinstance(value, Quantity) for value in values):
        return unwrapped(np.asarray(function(*values)).item())
    axes: list[Axis] = []
    for value in values:
        for entry in value.axes if isinstance(value, Quantity) else ():
            known = next((other for other in axes if other.name == entry.name), None)
            if known is None:
                axes.append(entry)
            elif not known.same(entry):
                raise BadExpression(
                    f"axis {entry.name} differs: {known.told(4)} and {entry.told(4)}"
                )
    if math.prod(len(entry) for entry in axes) > MOST_ENTRIES:
        raise BadExpression(f"an array of more than {MOST_ENTRIES:,} entries")
    order = [entry.name for entry in axes]
    return Quantity(function(*(aligned(value, order) for value in values)), axes)


def aligned(value: Value, order: Sequence[str]) -> Any:
    """The values with their axes in this order, and a place of length one for every other axis."""
    if not isinstance(value, Quantity):
        return value
    moved = np.transpose(
        value.values, sorted(range(value.values.ndim), key=lambda i: order.index(value.names[i]))
    )
    shape = iter(moved.shape)
    return moved.reshape([next(shape) if name in value.names else 1 for name in order])
