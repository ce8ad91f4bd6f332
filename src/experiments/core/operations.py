"""Operations on labelled arrays: arithmetic, comparisons, logic, and selection by label.

The language of claims (`expressions`) and the operators of a `Quantity` in Python both call these
functions, so `outcome["loss"][6:8] < 1` in a notebook is `loss[6:8] < 1` in a claim.
"""

import operator
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bythebook.experiments.core.alignment import (
    ExpressionError,
    Labelled,
    Value,
    apply_elementwise,
    is_text,
    require_bool,
    require_number,
    require_scalar,
    to_scalar,
)

Entry = Any  # of an index: a label, or a slice with labels as its ends


def arithmetic(symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right` for one of + - * / **."""
    return apply_elementwise(ARITHMETIC[symbol], require_number(left), require_number(right))


def negative(value: Value) -> Value:
    """The value with the opposite sign."""
    return apply_elementwise(_negative, require_number(value))


def compare(symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right` for one of < <= > >= == !=, or membership in a list."""
    entries = right if isinstance(right, tuple) else (right,)
    if symbol in ("in", "not in"):
        if not isinstance(right, tuple):
            raise ExpressionError("`in` requires a value and a list; allowed: x in (3, 4)")
        entries = tuple(require_scalar(entry, "in") for entry in right)
    if any(is_text(left) != is_text(entry) for entry in entries):
        raise ExpressionError("text cannot be compared with numbers")
    if isinstance(right, tuple):
        return (require_scalar(left, "in") in entries) == (symbol == "in")
    return apply_elementwise(COMPARISONS[symbol], left, right)


def compare_chain(symbols: Sequence[str], sides: Sequence[Value]) -> Value:
    """`a < b < c`: each comparison of neighbours, joined by `and`."""
    pairs = zip(symbols, pairwise(sides), strict=True)
    return _join("and", [compare(symbol, left, right) for symbol, (left, right) in pairs])


def logic(symbol: str, values: Sequence[Value]) -> Value:
    """The values joined by `and` or `or`."""
    return _join(symbol, [require_bool(value, "and / or") for value in values])


def negation(value: Value) -> Value:
    """`not value`."""
    return apply_elementwise(np.logical_not, require_bool(value, "not"))


def _join(symbol: str, values: Sequence[Value]) -> Value:
    result, *others = values
    for other in others:
        join = np.logical_and if symbol == "and" else np.logical_or
        result = apply_elementwise(join, result, other)
    return result


def operate(name: str, *operands: Value) -> Value:
    """The operation of an operator of `Quantity`; an array of NumPy has the axes of the other."""
    values = [_labelled(operand, operands) for operand in operands]
    if name in ARITHMETIC:
        return arithmetic(name, *values)
    if name in COMPARISONS:
        return compare(name, *values)
    if name in ("and", "or"):
        return logic(name, values)
    (value,) = values
    if name == "abs":
        return apply_elementwise(np.abs, require_number(value))
    return negative(value) if name == "negative" else negation(value)


def _labelled(operand: Any, operands: Sequence[Any]) -> Value:
    if not isinstance(operand, np.ndarray):
        return to_scalar(operand)
    array = next(other for other in operands if isinstance(other, Labelled))
    return to_scalar(type(array)(operand, array.axes if operand.ndim else ()))


def select(array: Value, entries: Sequence[Entry]) -> Value:
    """The part of an array at some labels and between the ends of slices, which are included.

    The entries belong to the first axes; an axis that no entry belongs to stays as it is. Leading
    axes with one place may be left out if they do not have these coordinates.
    """
    if not isinstance(array, Labelled):
        raise ExpressionError("a single value has no axes to be indexed")
    if len(entries) > len(array.axes):
        axes = ", ".join(array.dims) or "none"
        raise ExpressionError(f"there are {len(entries)} labels for the axes {axes}")
    part: Any = array
    dim = _first_axis(array, entries)
    for entry in entries:
        axis = part.axes[dim]
        if isinstance(entry, slice):
            part = part.sel({axis.name: _slice(axis, entry)})
            dim += 1
        else:
            part = part.sel({axis.name: require_scalar(entry, "a label")})
    return to_scalar(part)


def _first_axis(array: Labelled, entries: Sequence[Entry]) -> int:
    """The index of the axis that the first entry belongs to."""
    left_out = range(len(array.axes) - len(entries) + 1)
    starts = [n for n in left_out if all(len(entry) == 1 for entry in array.axes[:n])]
    if len(starts) == 1:
        return 0
    fitting = [n for n in starts if all(map(_fits, array.axes[n:], entries))]
    slices = [entry for entry in entries if isinstance(entry, slice)]
    if len(fitting) > 1 and slices and slice(None) not in slices:
        first, second = (array.dims[n] for n in fitting[:2])
        raise ExpressionError(
            f"the slice belongs to axis {first} or to axis {second}; allowed: a label or `:` for"
            " each axis"
        )
    return fitting[0] if fitting else starts[-1]


def _fits(axis: Any, entry: Entry) -> bool:
    """Whether an axis has this label, or a coordinate in this slice."""
    try:
        if isinstance(entry, slice):
            _slice(axis, entry)
        else:
            axis.index_of(require_scalar(entry, "a label"))
    except (LookupError, ExpressionError):
        return False
    return True


def _slice(axis: Any, ends: slice) -> slice:
    """A slice whose ends are single values, and that contains a coordinate of the axis."""
    if ends.step is not None:
        raise ExpressionError("a slice must not have a step")
    low, high = (
        None if end is None else require_scalar(end, "a label") for end in (ends.start, ends.stop)
    )
    if len(axis.indices_of(slice(low, high))) == 0:
        raise ExpressionError(
            f"axis {axis.name} has no coordinate in this slice; allowed: {axis.format()}"
        )
    return slice(low, high)


def _bool_to_int(value: Any) -> Any:
    """Booleans as 0 and 1."""
    return value.astype(int) if (value := np.asarray(value)).dtype.kind == "b" else value


def _power(base: Any, exponent: Any) -> Any:
    return np.power(np.asarray(base, float), exponent)


def _negative(value: Any) -> Any:
    return np.negative(_bool_to_int(value))


def _exact_integer_op(operation: Any) -> Any:
    """An operation that returns floats if its integers are too large to be exact in a float."""

    def apply(left: Any, right: Any) -> Any:
        both = np.asarray(left).dtype.kind == np.asarray(right).dtype.kind == "b"
        if both and operation is np.multiply:
            return np.logical_and(left, right)  # a product of booleans is their conjunction
        left, right = _bool_to_int(left), _bool_to_int(right)
        result = operation(left, right)
        if result.dtype.kind == "f":
            return result
        floats = operation(left.astype(float), right.astype(float))
        return result if np.all(np.abs(floats) <= 2.0**53) else floats

    return apply


class Operators(Labelled):
    """The operators of a quantity in Python, which are those of the language of claims."""

    __slots__ = ()
    __array_priority__ = 1000  # so that an array or a number of NumPy leaves operators to us

    def __getitem__(self, labels: Any) -> Any:
        """The part at some labels, or between the ends of slices, as in the language of claims."""
        return select(self, labels if isinstance(labels, tuple) else (labels,))

    def __iter__(self) -> Iterator[Any]:
        """The parts along the first axis."""
        rest = self.axes[1:]
        for values in self.values:
            part = type(self)(values, rest)
            yield part if rest else part.item

    def __bool__(self) -> bool:
        if self.values.size != 1:
            raise ValueError(f"an array over {', '.join(self.dims)} is neither true nor false")
        return bool(self.values.item())

    def _operate(self, operation: str, *operands: Any) -> Any:
        """An operation of the language of claims; arrays are aligned by the names of their axes."""
        return operate(operation, *operands)

    def __add__(self, other: Any) -> Any:
        return self._operate("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._operate("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._operate("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("/", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._operate("**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._operate("**", other, self)

    def __lt__(self, other: Any) -> Any:
        return self._operate("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self._operate("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._operate(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._operate(">=", self, other)

    def __eq__(self, other: Any) -> Any:
        return self._operate("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return self._operate("!=", self, other)

    __hash__ = None  # type: ignore[assignment]  # as for NumPy's arrays, == gives an array

    def __neg__(self) -> Any:
        return self._operate("negative", self)

    def __abs__(self) -> Any:
        return self._operate("abs", self)

    def __and__(self, other: Any) -> Any:
        return self._operate("and", self, other)

    def __or__(self, other: Any) -> Any:
        return self._operate("or", self, other)

    def __invert__(self) -> Any:
        return self._operate("not", self)


ARITHMETIC = {
    "+": _exact_integer_op(np.add),
    "-": _exact_integer_op(np.subtract),
    "*": _exact_integer_op(np.multiply),
    "/": np.true_divide,
    "**": _power,
}
COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
