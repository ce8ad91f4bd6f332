"""The numbers behind a value, as text: the two sides of a comparison, the worst case, a sequence.

Of what holds for all cases the closest one is named, of what fails the worst, of `any` the
clearest. Digits are chosen so that two numbers look different only if they are.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bythebook.experiments.core.alignment import (
    Value,
    broadcast_like,
    is_text,
    single_value,
)
from bythebook.experiments.core.functions import largest_difference, line_of
from bythebook.experiments.core.outcome import Axis, Quantity

MAX_VALUES = 8  # of a printed sequence
MAX_CASES = 3  # that are named
ROUNDING = 1e-12  # relative; numbers that differ by less are equal up to rounding
_MONOTONE = ("rises", "falls", "never_rises", "never_falls")
_IRREGULAR_PLURALS = {"index": "indices", "series": "series", "data": "data"}


def describe_value(value: Value) -> str:
    """A single value, how often an array is true, or the axes of another array."""
    value = single_value(value)
    if not isinstance(value, Quantity):
        return format_side(value)
    if value.values.dtype.kind == "b":
        return format_count(value)
    return f"an array over {', '.join(value.dims)}"


def describe_comparison(symbols: Sequence[str], sides: Sequence[Value], value: Value) -> str:
    """The sides of a comparison of single values; of arrays, how often it holds."""
    value = single_value(value)
    if isinstance(value, Quantity):
        return describe_value(value)
    return format_comparison(symbols, [single_value(side) for side in sides])


def describe_cases(name: str, truths: Value, symbols: Sequence[str], sides: Sequence[Value]) -> str:
    """In how many cases `all` or `any` found a comparison to hold, and the case that decides."""
    if not isinstance(truths, Quantity):
        return describe_value(truths)
    holding = int(truths.values.sum())
    count = f"{holding} of {truths.values.size}"
    everywhere = holding == truths.values.size
    if len(sides) != 2 or isinstance(sides[1], tuple) or any(map(is_text, sides)):
        return count if everywhere else f"{count}; {_name_cases(name, truths)}"
    full = [broadcast_like(side, truths) for side in sides]
    index = _deciding_index(name, symbols[0], full)
    word = ("closest" if everywhere else "worst") if name == "all" else "clearest"
    if name == "any" and not holding:
        word = "closest"
    pair = format_comparison(symbols, [side[index].item() for side in full])
    return f"{count}; {word} at {format_place(truths.axes, index)}: {pair}"


def _deciding_index(name: str, symbol: str, full: Sequence[Any]) -> tuple[int, ...]:
    """The index of the worst case for `all`, or of the best for `any`."""
    gap = full[0].astype(float) - full[1].astype(float)
    margin = -gap if symbol in ("<", "<=") else gap
    if symbol in ("==", "!="):
        margin = np.abs(gap) if symbol == "!=" else -np.abs(gap)
    margin = np.where(np.isnan(margin), -np.inf, margin)
    flat = int(np.argmin(margin) if name == "all" else np.argmax(margin))
    return tuple(int(i) for i in np.unravel_index(flat, gap.shape))


def describe_truths(name: str, truths: Value) -> str:
    """In how many cases a condition is true for `all` or `any`, and the cases that decide."""
    truths = single_value(truths)
    if not isinstance(truths, Quantity):
        return format_side(truths)
    named = _name_cases(name, truths)
    return format_count(truths) + (f"; {named}" if named else "")


def _name_cases(name: str, truths: Quantity) -> str:
    """The first cases in which `all` fails or `any` holds."""
    deciding = np.argwhere(truths.values == (name == "any"))
    if len(deciding) == 0:
        return ""
    places = [format_place(truths.axes, index) for index in deciding[:MAX_CASES].tolist()]
    more = ", ..." if len(deciding) > MAX_CASES else ""
    return ("true" if name == "any" else "false") + f" at {'; '.join(places)}{more}"


def describe_call(
    name: str, arguments: Sequence[Value], options: Mapping[str, Value], value: Value
) -> str:
    """The numbers behind the value of a function."""
    if name in ("all", "any") and not options:
        return describe_truths(name, arguments[0])
    if name == "agree":
        return _describe_difference(arguments, options.get("along"))
    if name in _MONOTONE and not isinstance(single_value(value), Quantity):
        return _describe_steps(name, line_of(arguments[0], options.get("over"), name))
    return describe_value(value)


def _describe_difference(arguments: Sequence[Value], along: str | None) -> str:
    """The largest difference that `agree` found, and where."""
    other = arguments[1] if len(arguments) > 1 else None
    found = largest_difference(arguments[0], other, along)
    if found.size == 0:
        return "no difference"
    place = f" at {format_place(found.axes, found.place)}" if found.axes else ""
    left, right = format_numbers(found.values)
    return f"largest difference {found.size:.3g}{place}: {left} and {right}"


def _describe_steps(name: str, array: Quantity) -> str:
    """The values along an axis, and the step that is the worst for `rises` or `falls`."""
    values = array.values.tolist()
    text = format_sequence(values)
    steps = np.diff(array.values.astype(float))
    wrong = steps if name in ("rises", "never_falls") else -steps
    if len(values) <= MAX_VALUES or not len(steps) or not np.isfinite(wrong).any():
        return text
    worst = int(np.nanargmin(wrong))
    pair = format_sequence(values[worst : worst + 2], " then ")
    place = format_place(array.axes, (worst + 1,))
    word = "largest fall" if wrong[worst] < 0 else "smallest step"
    if name in ("falls", "never_rises"):
        word = "largest rise" if wrong[worst] < 0 else "smallest step"
    return f"{text}; {word} at {place}: {pair}"


def format_sequence(values: Sequence[Any], separator: str = ", ") -> str:
    """A few values as text, the middle ones of many left out; equal texts only if they are."""
    many = len(values) > MAX_VALUES
    shown = [*values[: MAX_VALUES - 2], *values[-1:]] if many else list(values)
    texts = format_numbers(shown)
    if many:
        texts.insert(-1, "...")
    return separator.join(texts) + (f" ({len(values)} values)" if many else "")


def format_count(truths: Quantity) -> str:
    """How often an array is true: `86 of 100 data sets`, in the words of its axis."""
    size = truths.values.size
    axes = [entry for entry in truths.axes if len(entry) > 1]
    noun = f" {pluralise(axes[0].name)}" if len(axes) == 1 else ""
    return f"{int(truths.values.sum())} of {size}{noun}"


def pluralise(axis_name: str) -> str:
    """The name of an axis as words in the plural, such as "data sets"."""
    words, _, last = axis_name.replace("_", " ").rpartition(" ")
    if last in _IRREGULAR_PLURALS:
        last = _IRREGULAR_PLURALS[last]
    elif last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        last = f"{last[:-1]}ies"
    elif last.endswith(("s", "x", "ch", "sh")):
        last += "es"
    else:
        last += "s"
    return f"{words} {last}".strip()


def format_place(axes: Sequence[Axis], index: Sequence[int]) -> str:
    """The coordinates of an element: `order 3, data set test`."""
    return ", ".join(
        f"{entry.name.replace('_', ' ')} {format_label(entry.values[i].item())}"
        for entry, i in zip(axes, index, strict=True)
    )


def format_label(value: Any) -> str:
    """A coordinate as text; whole numbers have no decimals."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return format_side(value)


def format_comparison(symbols: Sequence[str], sides: Sequence[Any]) -> str:
    """The sides of a comparison with enough digits to show whether they are equal."""
    first, *others = sides
    flat = [entry for side in sides for entry in (side if isinstance(side, tuple) else (side,))]
    texts = iter(format_numbers(flat))
    shown = [
        f"({', '.join(next(texts) for _ in side)})" if isinstance(side, tuple) else next(texts)
        for side in (first, *others)
    ]
    pairs = zip(symbols, shown[1:], strict=True)
    text = shown[0] + "".join(f" {symbol} {other}" for symbol, other in pairs)
    nearly = any(_equal_up_to_rounding(a, b) for a, b in pairwise(sides))
    return f"{text} (equal up to rounding)" if nearly else text


def format_numbers(values: Sequence[Any]) -> list[str]:
    """Values as text, of which two are equal only if the values are, up to rounding."""
    for digits in (4, 6, 9, 12):
        texts = [format_side(value, digits) for value in values]
        if all(
            (texts[i] == texts[j]) == (a == b or _equal_up_to_rounding(a, b))
            for i, a in enumerate(values)
            for j, b in enumerate(values[:i])
            if _is_number(a) and _is_number(b)
        ):
            return texts
    return [format_side(value, 12) for value in values]


def _equal_up_to_rounding(a: Any, b: Any) -> bool:
    """Whether two different numbers differ by no more than rounding in double precision."""
    if not (_is_number(a) and _is_number(b)) or a == b:
        return False
    return math.isclose(a, b, rel_tol=ROUNDING)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def format_side(value: Any, digits: int = 6) -> str:
    """A value as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else str(value)  # no -0
