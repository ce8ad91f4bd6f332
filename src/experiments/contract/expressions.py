"""Expressions over an outcome: the part of Python in which claims are written.

    argmin(loo_loss)                              the coordinate of the least
    min(loo_loss[6:8]) > max(loo_loss[1:5])       labels, and closed slices by coordinate
    share(argmin(loo_loss, over='order') == 3)    along one axis, for every place of the others

Names are quantities, or words of the vocabulary. Arrays meet by the names of their axes. There are
no attributes, methods, loops or imports; size and time are bounded. An expression is compiled once
into functions of the outcome, so that a sweep can afford to evaluate it for every run.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from experiments.contract.labelled import (
    BadExpression,
    Value,
    elementwise,
    is_text,
    number,
    single,
    truths,
    unwrapped,
)
from experiments.contract.outcome import Axis, Quantity
from experiments.contract.suggestions import meant
from experiments.contract.vocabulary import CONSTANTS, REDUCTIONS, VOCABULARY

LONGEST = 600  # characters
MOST_NODES = 200

Names = Mapping[str, Quantity]
Compiled = Callable[[Names], Value]


def evaluate(text: str, outcome: Names) -> Value:
    """The value of an expression: a plain number, truth value or word, or a Quantity."""
    return guarded(text, _of_text(text), outcome)


def names(text: str) -> set[str]:
    """The quantities an expression speaks of; complains of one that no outcome could help."""
    _of_text(text)
    called = {id(node.func) for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Name) and id(node) not in called and node.id not in CONSTANTS
    }


def guarded(text: str, function: Callable[[Names], Any], outcome: Names) -> Any:
    """Apply a function of the outcome; what goes wrong is told with the expression, in a line."""
    try:
        with np.errstate(all="ignore"):
            return function(outcome)
    except BadExpression as error:
        raise BadExpression(f"{text}: {error}") from None
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        reason = error.args[0] if isinstance(error, LookupError) and error.args else error
        told = " ".join(str(reason).split()) or type(error).__name__
        raise BadExpression(f"{text}: {told}") from None


# Reading: a tree of the allowed nodes, or one line about what is not allowed.


@cache
def parsed(text: str) -> ast.expr:
    """An expression as a tree, of a size that is allowed."""
    if len(text) > LONGEST:
        raise BadExpression(f"{text[:40]}...: {len(text)} characters; allowed: {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise BadExpression(f"{text}: {reason}") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise BadExpression(f"{text[:40]}...: more than {MOST_NODES} parts")
    return tree


@cache
def _of_text(text: str) -> Compiled:
    try:
        return compiled(parsed(text))
    except BadExpression as error:
        raise (
            error if str(error).startswith(text[:40]) else BadExpression(f"{text}: {error}")
        ) from None


def compiled(node: ast.expr) -> Compiled:
    """A node of the tree as a function of the outcome."""
    build = _BUILD.get(type(node))
    if build is None:
        raise BadExpression(f"'{ast.unparse(node)}' is not allowed in an expression")
    return build(node)


def _constant(node: ast.Constant) -> Compiled:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadExpression(f"'{ast.unparse(node)}' is not allowed; allowed: numbers and words")
    if isinstance(value, int) and abs(value) > 2**53:
        raise BadExpression(f"'{ast.unparse(node)}' is too large for a whole number")
    return lambda _: value


def _name(node: ast.Name) -> Compiled:
    name = node.id
    if name in CONSTANTS:
        constant = CONSTANTS[name]
        return lambda _: constant
    if name in VOCABULARY:
        raise BadExpression(f"'{name}' is a function: {name}(...)")

    def found(outcome: Names) -> Value:
        quantity = outcome.get(name)
        if quantity is None:
            known = ", ".join(outcome) or "nothing"
            raise BadExpression(
                f"there is no '{name}'{meant(name, [*outcome, *VOCABULARY])};"
                f" the study gives: {known}"
            )
        return quantity if quantity.axes else quantity.item

    return found


def _comparison(node: ast.Compare) -> Compiled:
    sides = [compiled_side(side) for side in (node.left, *node.comparators)]
    tests = [_test(op) for op in node.ops]

    def compare(outcome: Names) -> Value:
        values = [side(outcome) for side in sides]
        found = [
            test(left, right)
            for test, left, right in zip(tests, values[:-1], values[1:], strict=True)
        ]
        result = found[0]
        for other in found[1:]:
            result = elementwise(np.logical_and, result, other)
        return result

    return compare


def compiled_side(node: ast.expr) -> Compiled:
    """A side of a comparison: a list may stand behind `in`."""
    if isinstance(node, ast.Tuple | ast.List):
        entries = [compiled(entry) for entry in node.elts]
        return lambda outcome: tuple(entry(outcome) for entry in entries)
    return compiled(node)


def _test(op: ast.cmpop) -> Callable[[Value, Value], Value]:
    if isinstance(op, ast.In | ast.NotIn):
        wanted = isinstance(op, ast.In)

        def belongs(left: Value, right: Value) -> bool:
            if not isinstance(right, tuple) or isinstance(left, tuple):
                raise BadExpression("`in` takes a value and a list: argmin(loss) in (3, 4)")
            entries = [single(entry, "in") for entry in right]
            if any(is_text(entry) != is_text(left) for entry in entries):
                raise BadExpression("words and numbers cannot be compared")
            return (single(left, "in") in entries) == wanted

        return belongs
    test = _TESTS.get(type(op))
    if test is None:
        raise BadExpression("`is` is not allowed; allowed: < <= > >= == != in")

    def compare(left: Value, right: Value) -> Value:
        if isinstance(left, tuple) or isinstance(right, tuple):
            raise BadExpression("a list stands behind `in` only")
        if is_text(left) != is_text(right):
            raise BadExpression("words and numbers cannot be compared")
        return elementwise(test, left, right)

    return compare


def _logic(node: ast.BoolOp) -> Compiled:
    parts = [compiled(value) for value in node.values]
    both = isinstance(node.op, ast.And)

    join = np.logical_and if both else np.logical_or

    def combine(outcome: Names) -> Value:
        found, *others = [truths(part(outcome), "and / or") for part in parts]
        for other in others:
            found = elementwise(join, found, other)
        return found

    return combine


def _sign(node: ast.UnaryOp) -> Compiled:
    inner = compiled(node.operand)
    if isinstance(node.op, ast.Not):
        return lambda outcome: elementwise(np.logical_not, truths(inner(outcome), "not"))
    if isinstance(node.op, ast.USub):
        return lambda outcome: elementwise(_negative, number(inner(outcome)))
    if isinstance(node.op, ast.UAdd):
        return lambda outcome: number(inner(outcome))
    raise BadExpression(f"'{ast.unparse(node)}' is not allowed")


def _arithmetic(node: ast.BinOp) -> Compiled:
    operation = _OPERATIONS.get(type(node.op))
    if operation is None:
        raise BadExpression(f"'{ast.unparse(node)}': allowed are + - * / **")
    left, right = compiled(node.left), compiled(node.right)
    return lambda outcome: elementwise(operation, number(left(outcome)), number(right(outcome)))


def _part(node: ast.Subscript) -> Compiled:
    whole = compiled(node.value)
    stated = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    pieces = [_piece(entry) for entry in stated]

    def select(outcome: Names) -> Value:
        found = whole(outcome)
        if not isinstance(found, Quantity):
            raise BadExpression(f"'{ast.unparse(node.value)}' is one value and takes no label")
        if len(pieces) > len(found.axes):
            raise BadExpression(f"{len(pieces)} labels for the axes {', '.join(found.names)}")
        place = 0
        for piece in pieces:
            kept = len(found.axes)
            found = piece(found, place, outcome)
            place += len(found.axes) == kept
        return unwrapped(found)

    return select


def _piece(node: ast.expr) -> Callable[[Quantity, int, Names], Quantity]:
    if not isinstance(node, ast.Slice):
        label = compiled(node)
        return lambda found, place, outcome: found.at(
            **{found.names[place]: single(label(outcome), "a label")}
        )
    if node.step is not None:
        raise BadExpression("a slice has two ends and no step")
    ends = [None if end is None else compiled(end) for end in (node.lower, node.upper)]

    def cut(found: Quantity, place: int, outcome: Names) -> Quantity:
        low, high = (None if end is None else single(end(outcome), "a label") for end in ends)
        return _cut(found, place, low, high)

    return cut


def _cut(found: Quantity, place: int, low: Any, high: Any) -> Quantity:
    """The places whose coordinates lie between two labels, both included."""
    stated = found.axes[place]
    if stated.values.dtype.kind == "U":
        first = 0 if low is None else stated.place(low)
        last = len(stated) - 1 if high is None else stated.place(high)
        chosen = np.arange(first, last + 1)
    else:
        if isinstance(low, str) or isinstance(high, str):
            raise BadExpression(f"axis {stated.name} has numbers: {stated.told()}")
        inside = np.ones(len(stated), bool)
        inside &= True if low is None else (stated.values >= low) | stated.close(low)
        inside &= True if high is None else (stated.values <= high) | stated.close(high)
        chosen = np.flatnonzero(inside)
    if len(chosen) == 0:
        raise BadExpression(f"nothing of axis {stated.name} lies there; it has {stated.told()}")
    part = Axis(stated.name, stated.values[chosen])
    axes = (*found.axes[:place], part, *found.axes[place + 1 :])
    return Quantity(np.take(found.values, chosen, axis=place), axes)


def _call(node: ast.Call) -> Compiled:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    word = VOCABULARY.get(name) if isinstance(node.func, ast.Name) else None
    if word is None:
        raise BadExpression(
            f"there is no function '{name}'{meant(name, VOCABULARY)};"
            f" there are: {', '.join(VOCABULARY)}"
        )
    if any(isinstance(entry, ast.Starred) for entry in node.args):
        raise BadExpression("* is not allowed in a call")
    arguments = [compiled(entry) for entry in node.args]
    options: dict[str, Compiled] = {}
    for entry in node.keywords:
        if entry.arg is None:
            raise BadExpression("** is not allowed in a call")
        if entry.arg in options:
            raise BadExpression(f"{name} takes '{entry.arg}' once")
        options[entry.arg] = compiled(entry.value)
    if name not in ("at", "near") and set(options) - {"over"}:
        raise BadExpression(
            f"{name} takes no '{min(set(options) - {'over'})}'; allowed: over='axis'"
        )
    if "over" in options and name not in REDUCTIONS:
        raise BadExpression(f"{name} takes no 'over'")

    def call(outcome: Names) -> Value:
        given = [argument(outcome) for argument in arguments]
        try:
            return word(*given, **{key: option(outcome) for key, option in options.items()})
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise BadExpression(f"{name}: {(word.__doc__ or '').splitlines()[0]}") from None

    return call


_BUILD: dict[type, Callable[[Any], Compiled]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Compare: _comparison,
    ast.BoolOp: _logic,
    ast.UnaryOp: _sign,
    ast.BinOp: _arithmetic,
    ast.Subscript: _part,
    ast.Call: _call,
}
_TESTS: dict[type, Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _counted(value: Any) -> Any:
    """A truth value counts as 0 or 1."""
    return value.astype(int) if (value := np.asarray(value)).dtype.kind == "b" else value


def _power(base: Any, exponent: Any) -> Any:
    return np.power(np.asarray(base, float), exponent)


def _negative(value: Any) -> Any:
    return np.negative(_counted(value))


def _whole(operation: Any) -> Any:
    """An operation whose whole numbers become floats where they are too large to be exact."""

    def apply(left: Any, right: Any) -> Any:
        both = np.asarray(left).dtype.kind == np.asarray(right).dtype.kind == "b"
        if both and operation is np.multiply:
            return np.logical_and(left, right)  # a product of truths is true where both are
        left, right = _counted(left), _counted(right)
        found = operation(left, right)
        if found.dtype.kind == "f":
            return found
        floats = operation(left.astype(float), right.astype(float))
        return found if np.all(np.abs(floats) <= 2.0**53) else floats

    return apply


_OPERATIONS: dict[type, Any] = {
    ast.Add: _whole(np.add),
    ast.Sub: _whole(np.subtract),
    ast.Mult: _whole(np.multiply),
    ast.Div: np.true_divide,
    ast.Pow: _power,
}
