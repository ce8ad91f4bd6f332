"""The words of an expression: what a claim may call."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.contract.labelled import (
    BadExpression,
    Value,
    aligned,
    elementwise,
    number,
    single,
    unwrapped,
)
from experiments.contract.outcome import Axis, Quantity
from models.types import AnyArray

EPSILON = 1e-9  # of the largest value: what `never_falls` and `never_rises` take for rounding


def _array(value: Value, function: str) -> Quantity:
    if not isinstance(value, Quantity):
        raise BadExpression(f"{function} needs an array, not one value")
    return value


def _reduced(
    value: Value, over: str | None, function: str, reduce: Any, *, text: bool = False
) -> Value:
    """Reduce all of an array, or one of its axes."""
    array = _array(value, function)
    if not text:
        number(array)
    if array.values.size == 0 and function not in ("sum", "count"):
        raise BadExpression(f"{function} of an empty array")  # all of nothing would be true
    if over is None:
        return unwrapped(reduce(array.values, None))
    place = array.number(over)
    rest = array.axes[:place] + array.axes[place + 1 :]
    return unwrapped(Quantity(reduce(array.values, place), rest))


def _several(function: Any, name: str) -> Callable[..., Value]:
    def reduce(*values: Value, over: str | None = None) -> Value:
        if not values:
            raise TypeError("argument")
        if len(values) == 1:
            return _reduced(values[0], over, name, lambda array, i: function(array, axis=i))
        if over is not None:
            raise BadExpression(f"{name} of several values takes no 'over'")
        pair = np.minimum if name == "min" else np.maximum
        found = values[0]
        for value in values[1:]:
            found = elementwise(pair, number(found), number(value))
        return found

    reduce.__doc__ = f"{name}(array, over='axis') or {name}(a, b, ...)"
    return reduce


def _where(function: Any, name: str) -> Callable[..., Value]:
    def find(value: Value, over: str | None = None) -> Value:
        array = _array(number(value), name)
        if over is None and len(array.axes) > 1:
            raise BadExpression(f"{name} over which axis? {name}(..., over='{array.names[0]}')")
        place = array.number(over) if over is not None else 0
        if np.isnan(array.values).any():
            raise BadExpression(f"{name} of values that are not all numbers")
        chosen = array.axes[place].values[function(array.values, axis=place)]
        rest = array.axes[:place] + array.axes[place + 1 :]
        return unwrapped(Quantity(chosen, rest))

    find.__doc__ = f"{name}(array, over='axis'): the coordinate of the {name[3:]}imum"
    return find


def _mean(value: Value, over: str | None = None) -> Value:
    """mean(array, over='axis')"""
    return _reduced(value, over, "mean", lambda array, i: np.mean(array, axis=i))


def _median(value: Value, over: str | None = None) -> Value:
    """median(array, over='axis')"""
    return _reduced(value, over, "median", lambda array, i: np.median(array, axis=i))


def _sd(value: Value, over: str | None = None) -> Value:
    """sd(array, over='axis'): of the values at hand (divided by n)"""
    return _reduced(value, over, "sd", lambda array, i: np.std(array, axis=i))


def _sum(value: Value, over: str | None = None) -> Value:
    """sum(array, over='axis')"""
    return _reduced(value, over, "sum", lambda array, i: np.sum(array, axis=i))


def _quantile(value: Value, p: Value, over: str | None = None) -> Value:
    """quantile(array, p, over='axis') with p between 0 and 1"""
    return _reduced(
        value,
        over,
        "quantile",
        lambda array, i: np.quantile(array, single(number(p), "quantile"), axis=i),
    )


def _truths(value: Value, name: str) -> Quantity:
    array = _array(value, name)
    if array.values.dtype.kind != "b":
        raise BadExpression(f"{name} needs a comparison: {name}(a < b)")
    return array


def _share(value: Value, over: str | None = None) -> Value:
    """share(comparison, over='axis'): the part of the places where it is true"""
    return _reduced(_truths(value, "share"), over, "share", lambda array, i: np.mean(array, axis=i))


def _count(value: Value, over: str | None = None) -> Value:
    """count(comparison, over='axis'): the number of places where it is true"""
    return _reduced(_truths(value, "count"), over, "count", lambda array, i: np.sum(array, axis=i))


def _all(value: Value, over: str | None = None) -> Value:
    """all(comparison, over='axis')"""
    return _reduced(_truths(value, "all"), over, "all", lambda array, i: np.all(array, axis=i))


def _any(value: Value, over: str | None = None) -> Value:
    """any(comparison, over='axis')"""
    return _reduced(_truths(value, "any"), over, "any", lambda array, i: np.any(array, axis=i))


def _mapped(function: Any, name: str) -> Callable[[Value], Value]:
    def apply(value: Value) -> Value:
        return elementwise(function, number(value))

    apply.__doc__ = f"{name}(value)"
    return apply


def _round(value: Value, digits: Value = 0) -> Value:
    """round(value, digits)"""
    places = single(number(digits), "round")
    if places != int(places):
        raise BadExpression("round takes a whole number of digits")
    return elementwise(lambda x: np.round(x, int(places)), number(value))


def _corr(a: Value, b: Value) -> float:
    """corr(a, b): the correlation of two arrays over the same axes"""
    left, right = _array(number(a), "corr"), _array(number(b), "corr")
    if left.names != right.names or not all(map(Axis.same, left.axes, right.axes)):
        raise BadExpression("corr needs two arrays over the same axes")
    return float(np.corrcoef(left.values.ravel(), right.values.ravel())[0, 1])


def _steps(value: Value, over: str | None, name: str) -> tuple[Quantity, int, AnyArray]:
    array = _array(number(value), name)
    if over is None and len(array.axes) > 1:
        raise BadExpression(f"{name} over which axis? {name}(..., over='{array.names[0]}')")
    place = array.number(over) if over is not None else 0
    if array.values.shape[place] < 2:
        raise BadExpression(f"{name} needs at least two places on axis {array.names[place]}")
    return array, place, np.diff(array.values.astype(float), axis=place)


def _diff(value: Value, over: str | None = None) -> Value:
    """diff(array, over='axis'): each step, at the coordinate where it ends"""
    array, place, steps = _steps(value, over, "diff")
    stated = array.axes[place]
    part = Axis(stated.name, stated.values[1:])
    return Quantity(steps, (*array.axes[:place], part, *array.axes[place + 1 :]))


def _monotone(name: str, holds: Callable[[AnyArray, Any], Any]) -> Callable[..., Value]:
    def check(value: Value, over: str | None = None) -> Value:
        array, place, steps = _steps(value, over, name)
        size = np.abs(array.values.astype(float))
        largest = np.where(np.isfinite(size), size, 0).max(axis=place, keepdims=True)
        both = (np.delete(array.values, end, axis=place) for end in (0, -1))
        steps[np.equal(*both)] = 0  # inf - inf is no number, and no step
        rest = array.axes[:place] + array.axes[place + 1 :]
        found = np.all(holds(steps, EPSILON * largest), axis=place)
        return unwrapped(Quantity(found, rest))

    strict = name in ("rises", "falls")
    rule = "at every step" if strict else f"but for rounding ({EPSILON:g} of the largest value)"
    check.__doc__ = f"{name}(array, over='axis'): {rule}"
    return check


def _end(name: str, which: int) -> Callable[..., Value]:
    def take(value: Value, over: str | None = None) -> Value:
        array = _array(value, name)
        if over is None and len(array.axes) > 1:
            raise BadExpression(f"{name} over which axis? {name}(..., over='{array.names[0]}')")
        place = array.number(over) if over is not None else 0
        rest = array.axes[:place] + array.axes[place + 1 :]
        return unwrapped(Quantity(np.take(array.values, which, axis=place), rest))

    take.__doc__ = f"{name}(array, over='axis'): the value at the {name} place"
    return take


def _at(value: Value, /, **labels: Value) -> Value:
    """at(array, axis=label, ...)"""
    return unwrapped(
        _array(value, "at").at(**{name: single(v, "at") for name, v in labels.items()})
    )


def _near(value: Value, /, **labels: Value) -> Value:
    """near(array, axis=place, ...): at the coordinate that is nearest"""
    found = _array(value, "near")
    for name, label in labels.items():
        stated = found.axes[found.number(name)]
        if stated.values.dtype.kind == "U":
            raise BadExpression(f"axis {name} has words, and none is near another")
        off = np.abs(stated.values - single(number(label), "near"))
        if not np.isfinite(off).any():
            raise BadExpression(f"nothing of axis {name} is near {label}")
        place = found.number(name)
        rest = found.axes[:place] + found.axes[place + 1 :]
        found = Quantity(np.take(found.values, np.nanargmin(off), axis=place), rest)
    return unwrapped(found)


def _size(value: Value, over: str | None = None) -> int:
    """size(array, over='axis'): how many places"""
    array = _array(value, "size")
    return int(array.values.size if over is None else array.values.shape[array.number(over)])


def _coordinates(value: Value, over: str | None = None) -> Value:
    """coordinates(array, over='axis'): the coordinates of an axis, as an array along it"""
    array = _array(value, "coordinates")
    if over is None and len(array.axes) > 1:
        raise BadExpression(f"coordinates of which axis? over='{array.names[0]}'")
    stated = array.axes[array.number(over) if over is not None else 0]
    return stated.of(stated.values)


def _distinct(value: Value) -> int:
    """distinct(array): how many different values"""
    return len(np.unique(_array(value, "distinct").values))


def _pick(value: Value, condition: Value) -> Quantity:
    """where(array, comparison): the places of an array at which a comparison holds"""
    array, holds = _array(value, "where"), _truths(condition, "where")
    strange = [name for name in holds.names if name not in array.names]
    if strange:
        raise BadExpression(f"where: the comparison has an axis '{strange[0]}' that is not here")
    chosen = np.broadcast_to(aligned(holds, array.names), array.values.shape)
    if not chosen.any():
        raise BadExpression("where: the comparison holds nowhere")
    for known, other in ((a, b) for a in array.axes for b in holds.axes if a.name == b.name):
        if not known.same(other):
            raise BadExpression(f"axis {known.name} differs: {known.told(4)} and {other.told(4)}")
    if len(array.axes) == 1:
        return Axis(array.names[0], array.axes[0].values[chosen]).of(array.values[chosen])
    return Axis("place", np.arange(chosen.sum())).of(array.values[chosen])


CONSTANTS = {"pi": math.pi, "inf": math.inf}
VOCABULARY: dict[str, Callable[..., Value]] = {
    "min": _several(np.min, "min"),
    "max": _several(np.max, "max"),
    "argmin": _where(np.argmin, "argmin"),
    "argmax": _where(np.argmax, "argmax"),
    "mean": _mean,
    "median": _median,
    "sd": _sd,
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
    "finite": _mapped(np.isfinite, "finite"),
    "round": _round,
    "corr": _corr,
    "diff": _diff,
    "rises": _monotone("rises", lambda steps, _: steps > 0),
    "falls": _monotone("falls", lambda steps, _: steps < 0),
    "never_rises": _monotone("never_rises", lambda steps, slack: steps <= slack),
    "never_falls": _monotone("never_falls", lambda steps, slack: steps >= -slack),
    "first": _end("first", 0),
    "last": _end("last", -1),
    "where": _pick,
    "at": _at,
    "near": _near,
    "size": _size,
    "distinct": _distinct,
    "coordinates": _coordinates,
}
REDUCTIONS = frozenset(VOCABULARY) - frozenset(
    ("abs", "log", "exp", "sqrt", "finite", "round", "corr", "at", "near", "where", "distinct")
)
