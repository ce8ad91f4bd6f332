"""Functions that an expression may call."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core.alignment import (
    ExpressionError,
    Value,
    align,
    apply_elementwise,
    broadcast_like,
    require_equal,
    require_number,
    require_scalar,
    single_value,
    to_scalar,
)
from bythebook.experiments.core.outcome import Axis, Quantity
from bythebook.models.types import AnyArray

# Steps of `never_falls` and `never_rises` up to this fraction of the largest value are rounding.
MONOTONE_RTOL = 1e-9
AGREE_ATOL = 1e-9  # by default, two values agree if they differ by no more


def _array(value: Value, function: str) -> Quantity:
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{function} requires an array, not a single value")
    return value


def _reduced(
    value: Value, over: str | None, function: str, reduce: Any, *, text: bool = False
) -> Value:
    """Reduce an array over all of its axes, or over one."""
    array = _array(value, function)
    if not text:
        require_number(array)
    if array.values.size == 0 and function not in ("sum", "count"):
        raise ExpressionError(f"{function} of an empty array")  # `all` would be true
    if over is None:
        return to_scalar(reduce(array.values, None))
    dim = array.dim_index(over)
    return to_scalar(Quantity(reduce(array.values, dim), _other_axes(array, dim)))


def _other_axes(array: Quantity, dim: int) -> tuple[Axis, ...]:
    return array.axes[:dim] + array.axes[dim + 1 :]


def _line(value: Value, over: str | None, function: str) -> tuple[Quantity, int]:
    """An array and the index of its axis `over`.

    The name may be omitted if only one axis has more than one place.
    """
    array = _array(value, function)
    if over is not None:
        return array, array.dim_index(over)
    if len(array.axes) == 1:
        return array, 0
    long = [dim for dim, entry in enumerate(array.axes) if len(entry) > 1]
    if len(long) != 1:
        raise ExpressionError(
            f"{function} requires an axis; allowed: {function}(..., over='{array.dims[0]}')"
        )
    return array, long[0]


def line_of(value: Value, over: str | None, function: str) -> Quantity:
    """An array along one axis, without its other axes, which have one place each."""
    array, dim = _line(value, over, function)
    return array.axes[dim].of(array.values.reshape(-1))


def _min_max(function: Any, name: str) -> Callable[..., Value]:
    def reduce(*values: Value, over: str | None = None) -> Value:
        if not values:
            raise TypeError("argument")
        if len(values) == 1:
            return _reduced(values[0], over, name, lambda array, i: function(array, axis=i))
        if over is not None:
            raise ExpressionError(f"{name} of several values does not take 'over'")
        binary = np.minimum if name == "min" else np.maximum
        result = values[0]
        for value in values[1:]:
            result = apply_elementwise(binary, require_number(result), require_number(value))
        return result

    reduce.__doc__ = f"{name}(array, over='axis') or {name}(a, b, ...)"
    return reduce


def _arg_extremum(function: Any, name: str) -> Callable[..., Value]:
    def find(value: Value, over: str | None = None) -> Value:
        array, dim = _line(require_number(value), over, name)
        if np.isnan(array.values).any():
            raise ExpressionError(f"{name} is not defined if a value is NaN")
        coordinates = array.axes[dim].values[function(array.values, axis=dim)]
        return to_scalar(Quantity(coordinates, _other_axes(array, dim)))

    find.__doc__ = f"{name}(array, over='axis'): the coordinate of the {name[3:]}imum"
    return find


def _mean(value: Value, over: str | None = None) -> Value:
    """mean(array, over='axis')"""
    return _reduced(value, over, "mean", lambda array, i: np.mean(array, axis=i))


def _median(value: Value, over: str | None = None) -> Value:
    """median(array, over='axis')"""
    return _reduced(value, over, "median", lambda array, i: np.median(array, axis=i))


def _sd(value: Value, over: str | None = None) -> Value:
    """sd(array, over='axis'): the standard deviation with divisor n"""
    return _reduced(value, over, "sd", lambda array, i: np.std(array, axis=i))


def _se(value: Value, over: str | None = None) -> Value:
    """se(array, over='axis'): the standard error of the mean, from the divisor n - 1"""
    if _count_along(value, over, "se") < 2:
        raise ExpressionError("se requires at least two values")

    def standard_error(array: AnyArray, i: int | None) -> Any:
        n = array.size if i is None else array.shape[i]
        return np.std(array, axis=i, ddof=1) / math.sqrt(n)

    return _reduced(value, over, "se", standard_error)


def _count_along(value: Value, over: str | None, function: str) -> int:
    array = _array(value, function)
    return int(array.values.size if over is None else array.values.shape[array.dim_index(over)])


def _sum(value: Value, over: str | None = None) -> Value:
    """sum(array, over='axis')"""
    return _reduced(value, over, "sum", lambda array, i: np.sum(array, axis=i))


def _quantile(value: Value, p: Value, over: str | None = None) -> Value:
    """quantile(array, p, over='axis') with p between 0 and 1"""
    return _reduced(
        value,
        over,
        "quantile",
        lambda array, i: np.quantile(array, require_scalar(require_number(p), "quantile"), axis=i),
    )


def _bool_array(value: Value, name: str) -> Quantity:
    array = _array(value, name)
    if array.values.dtype.kind != "b":
        raise ExpressionError(f"{name} requires a comparison; allowed: {name}(a < b)")
    return array


def _share(value: Value, over: str | None = None) -> Value:
    """share(comparison, over='axis'): the fraction of elements for which it is true"""
    truths = _bool_array(value, "share")
    return _reduced(truths, over, "share", lambda array, i: np.mean(array, axis=i))


def _count(value: Value, over: str | None = None) -> Value:
    """count(comparison, over='axis'): the number of elements for which it is true"""
    truths = _bool_array(value, "count")
    return _reduced(truths, over, "count", lambda array, i: np.sum(array, axis=i))


def _all(value: Value, over: str | None = None) -> Value:
    """all(comparison, over='axis')"""
    return _reduced(_bool_array(value, "all"), over, "all", lambda array, i: np.all(array, axis=i))


def _any(value: Value, over: str | None = None) -> Value:
    """any(comparison, over='axis')"""
    return _reduced(_bool_array(value, "any"), over, "any", lambda array, i: np.any(array, axis=i))


def _mapped(function: Any, name: str) -> Callable[[Value], Value]:
    def apply(value: Value) -> Value:
        return apply_elementwise(function, require_number(value))

    apply.__doc__ = f"{name}(value)"
    return apply


def _round(value: Value, digits: Value = 0) -> Value:
    """round(value, digits)"""
    decimals = require_scalar(require_number(digits), "round")
    if decimals != int(decimals):
        raise ExpressionError("the number of digits of round must be an integer")
    return apply_elementwise(lambda x: np.round(x, int(decimals)), require_number(value))


def _corr(a: Value, b: Value) -> float:
    """corr(a, b): the correlation of two arrays over the same axes"""
    left, right = _array(require_number(a), "corr"), _array(require_number(b), "corr")
    if left.dims != right.dims or not all(map(Axis.equals, left.axes, right.axes)):
        raise ExpressionError("corr requires two arrays over the same axes")
    return float(np.corrcoef(left.values.ravel(), right.values.ravel())[0, 1])


def _steps(value: Value, over: str | None, name: str) -> tuple[Quantity, int, AnyArray]:
    array, dim = _line(require_number(value), over, name)
    if array.values.shape[dim] < 2:
        raise ExpressionError(f"{name} requires at least two values along axis {array.dims[dim]}")
    return array, dim, np.diff(array.values.astype(float), axis=dim)


def _diff(value: Value, over: str | None = None) -> Value:
    """diff(array, over='axis'): each step, at the coordinate of its end"""
    array, dim, steps = _steps(value, over, "diff")
    axis = array.axes[dim]
    ends = axis.take(slice(1, None))
    return Quantity(steps, (*array.axes[:dim], ends, *array.axes[dim + 1 :]))


def _monotonic(name: str, holds: Callable[[AnyArray, Any], Any]) -> Callable[..., Value]:
    def check(value: Value, over: str | None = None) -> Value:
        array, dim, steps = _steps(value, over, name)
        size = np.abs(array.values.astype(float))
        largest = np.where(np.isfinite(size), size, 0).max(axis=dim, keepdims=True)
        neighbours = (np.delete(array.values, end, axis=dim) for end in (0, -1))
        steps[np.equal(*neighbours)] = 0  # inf - inf is NaN, but not a step
        result = np.all(holds(steps, MONOTONE_RTOL * largest), axis=dim)
        return to_scalar(Quantity(result, _other_axes(array, dim)))

    strict = name in ("rises", "falls")
    rounding = f"up to rounding ({MONOTONE_RTOL:g} of the largest value)"
    rule = "at every step" if strict else rounding
    check.__doc__ = f"{name}(array, over='axis'): {rule}"
    return check


def _first_last(name: str, index: int) -> Callable[..., Value]:
    def take(value: Value, over: str | None = None) -> Value:
        array, dim = _line(value, over, name)
        part = np.take(array.values, index, axis=dim)
        return to_scalar(Quantity(part, _other_axes(array, dim)))

    take.__doc__ = f"{name}(array, over='axis'): the value at the {name} coordinate"
    return take


def _at(value: Value, /, **labels: Value) -> Value:
    """at(array, axis=label, ...)"""
    return to_scalar(
        _array(value, "at").sel(**{name: require_scalar(v, "at") for name, v in labels.items()})
    )


def _near(value: Value, /, **labels: Value) -> Value:
    """near(array, axis=number, ...): the value at the nearest coordinate"""
    part = _array(value, "near")
    for name, label in labels.items():
        dim = part.dim_index(name)
        axis = part.axes[dim]
        if axis.values.dtype.kind == "U":
            raise ExpressionError(f"near requires numbers as coordinates; axis {name} has text")
        distance = np.abs(axis.values - require_scalar(require_number(label), "near"))
        if not np.isfinite(distance).any():
            raise ExpressionError(f"axis {name} has no coordinate near {label}")
        nearest = np.take(part.values, np.nanargmin(distance), axis=dim)
        part = Quantity(nearest, _other_axes(part, dim))
    return to_scalar(part)


def _size(value: Value, over: str | None = None) -> int:
    """size(array, over='axis'): the number of values"""
    return _count_along(value, over, "size")


def _coordinates(value: Value, over: str | None = None) -> Value:
    """coordinates(array, over='axis'): the coordinates of an axis, as an array along it"""
    array, dim = _line(value, over, "coordinates")
    axis = array.axes[dim]
    return axis.of(axis.values)


def _distinct(value: Value) -> int:
    """distinct(array): the number of different values"""
    return len(np.unique(_array(value, "distinct").values))


def _filter(value: Value, condition: Value) -> Quantity:
    """where(array, comparison): the values of an array for which a comparison is true"""
    array, truths = _array(value, "where"), _bool_array(condition, "where")
    unknown = [name for name in truths.dims if name not in array.dims]
    if unknown:
        raise ExpressionError(
            f"where: the comparison has the axis {unknown[0]};"
            f" allowed: axes of the array ({', '.join(array.dims)})"
        )
    mask = np.broadcast_to(align(truths, array.dims), array.values.shape)
    if not mask.any():
        raise ExpressionError("where: the comparison is false for every element")
    for own, other in ((a, b) for a in array.axes for b in truths.axes if a.name == b.name):
        require_equal(own, other)
    long = [entry for entry in array.axes if len(entry) > 1]
    if len(array.axes) == 1 or len(long) == 1:
        (own,) = long or array.axes
        kept = mask.reshape(-1)
        return own.take(kept).of(array.values.reshape(-1)[kept])
    return Axis("place", np.arange(mask.sum())).of(array.values[mask])


class LargestDifference(NamedTuple):
    """The largest absolute difference of two values, or along an axis, and where it is."""

    size: float  # inf if a value is NaN
    axes: tuple[Axis, ...]
    place: tuple[int, ...]
    values: tuple[float, float]


def largest_difference(a: Value, b: Value = None, along: str | None = None) -> LargestDifference:
    """The largest absolute difference of two values, or of the places along an axis."""
    if (b is None) == (along is None):
        raise ExpressionError(
            "agree requires two values or an axis; allowed: agree(x, y), agree(x, along='axis')"
        )
    if along is not None:
        array = _array(require_number(a), "agree")
        dim = array.dim_index(along)
        if array.values.size == 0:
            raise ExpressionError("agree of an empty array")
        ends = (np.max(array.values, axis=dim), np.min(array.values, axis=dim))
        a, b = (to_scalar(Quantity(end, _other_axes(array, dim))) for end in ends)
    gaps = apply_elementwise(_gap, require_number(a), require_number(b))
    if not isinstance(gaps, Quantity):
        return LargestDifference(gaps, (), (), (single_value(a), single_value(b)))
    if gaps.values.size == 0:
        raise ExpressionError("agree of an empty array")
    flat = np.unravel_index(int(np.argmax(gaps.values)), gaps.values.shape)
    index = tuple(int(i) for i in flat)
    left, right = (broadcast_like(side, gaps)[index].item() for side in (a, b))
    return LargestDifference(float(gaps.values[index]), gaps.axes, index, (left, right))


def _gap(x: Any, y: Any) -> Any:
    """The absolute difference; equal infinities agree, and NaN agrees with nothing."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    gap = np.where(x == y, 0.0, np.abs(x - y))
    return np.where(np.isnan(gap), np.inf, gap)


def _agree(
    value: Value, other: Value = None, along: str | None = None, within: Value = AGREE_ATOL
) -> bool:
    """agree(x, y, within=1e-9) or agree(x, along='axis', within=1e-9)"""
    bound = require_scalar(require_number(within), "within")
    return bool(largest_difference(value, other, along).size <= bound)


CONSTANTS = {"pi": math.pi, "inf": math.inf}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "min": _min_max(np.min, "min"),
    "max": _min_max(np.max, "max"),
    "argmin": _arg_extremum(np.argmin, "argmin"),
    "argmax": _arg_extremum(np.argmax, "argmax"),
    "mean": _mean,
    "median": _median,
    "sd": _sd,
    "se": _se,
    "quantile": _quantile,
    "sum": _sum,
    "share": _share,
    "count": _count,
    "all": _all,
    "any": _any,
    "abs": _mapped(np.abs, "abs"),
    "log": _mapped(np.log, "log"),
    "exp": _mapped(np.exp, "exp"),
    "sqrt": _mapped(np.sqrt, "sqrt"),
    "sin": _mapped(np.sin, "sin"),
    "cos": _mapped(np.cos, "cos"),
    "finite": _mapped(np.isfinite, "finite"),
    "round": _round,
    "corr": _corr,
    "agree": _agree,
    "diff": _diff,
    "rises": _monotonic("rises", lambda steps, _: steps > 0),
    "falls": _monotonic("falls", lambda steps, _: steps < 0),
    "never_rises": _monotonic("never_rises", lambda steps, slack: steps <= slack),
    "never_falls": _monotonic("never_falls", lambda steps, slack: steps >= -slack),
    "first": _first_last("first", 0),
    "last": _first_last("last", -1),
    "where": _filter,
    "at": _at,
    "near": _near,
    "size": _size,
    "distinct": _distinct,
    "coordinates": _coordinates,
}
_WITHOUT_OVER = (
    *("abs", "log", "exp", "sqrt", "sin", "cos", "finite", "round", "corr", "agree", "at", "near"),
    *("where", "distinct"),
)
REDUCTIONS = frozenset(FUNCTIONS) - frozenset(_WITHOUT_OVER)
