"""Parser and evaluator of expressions over an outcome, the language of claims.

    argmin(loo_loss)                              the coordinate of the minimum
    min(loo_loss[6:8]) > max(loo_loss[1:5])       labels, and closed slices by coordinate
    share(argmin(loo_loss, over='order') == 3)    along one axis, for each index of the others

The language is a subset of Python: names are quantities or functions (`functions`), and the axes
of arrays are matched by name. There are no attributes, methods, loops or imports; the size of an
expression and of its arrays is bounded. An expression is compiled once into a function of the
outcome, because a sweep evaluates it for every run.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from bythebook.experiments.core.alignment import (
    ExpressionError,
    Value,
    apply_elementwise,
    is_text,
    require_bool,
    require_number,
    require_scalar,
    to_scalar,
)
from bythebook.experiments.core.functions import CONSTANTS, FUNCTIONS, REDUCTIONS
from bythebook.experiments.core.outcome import Axis, Quantity
from bythebook.experiments.core.suggestions import did_you_mean

MAX_CHARS = 600
MAX_NODES = 200  # of the syntax tree

Namespace = Mapping[str, Quantity]
CompiledExpression = Callable[[Namespace], Value]


def evaluate(text: str, outcome: Namespace) -> Value:
    """The value of an expression: a plain number, boolean or text, or a Quantity."""
    return call_with_context(text, _compile_text(text), outcome)


def quantity_names(text: str) -> set[str]:
    """The quantities in an expression; an invalid expression is refused."""
    _compile_text(text)
    called = {id(node.func) for node in ast.walk(parse(text)) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Name) and id(node) not in called and node.id not in CONSTANTS
    }


def call_with_context(text: str, function: Callable[[Namespace], Any], outcome: Namespace) -> Any:
    """Apply a function of the outcome; an error becomes a line that begins with the expression."""
    try:
        with np.errstate(all="ignore"):
            return function(outcome)
    except ExpressionError as error:
        raise ExpressionError(f"{text}: {error}") from None
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        reason = error.args[0] if isinstance(error, LookupError) and error.args else error
        message = " ".join(str(reason).split()) or type(error).__name__
        raise ExpressionError(f"{text}: {message}") from None


@cache
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression of bounded size."""
    if len(text) > MAX_CHARS:
        size = f"{len(text)} characters; allowed: {MAX_CHARS}"
        raise ExpressionError(f"{text[:40]}...: the expression has {size}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise ExpressionError(f"{text}: {reason}") from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise ExpressionError(f"{text[:40]}...: the expression has more than {MAX_NODES} nodes")
    return tree


@cache
def _compile_text(text: str) -> CompiledExpression:
    try:
        return compile_expression(parse(text))
    except ExpressionError as error:
        raise (
            error if str(error).startswith(text[:40]) else ExpressionError(f"{text}: {error}")
        ) from None


def compile_expression(node: ast.expr) -> CompiledExpression:
    """A node of the syntax tree as a function of the outcome."""
    build = _BUILD.get(type(node))
    if build is None:
        raise ExpressionError(f"'{ast.unparse(node)}' is not allowed in an expression")
    return build(node)


def _constant(node: ast.Constant) -> CompiledExpression:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ExpressionError(f"'{ast.unparse(node)}' is not allowed; allowed: numbers and text")
    if isinstance(value, int) and abs(value) > 2**53:
        raise ExpressionError(f"'{ast.unparse(node)}' is too large for an integer")
    return lambda _: value


def _name(node: ast.Name) -> CompiledExpression:
    name = node.id
    if name in CONSTANTS:
        constant = CONSTANTS[name]
        return lambda _: constant
    if name in FUNCTIONS:
        raise ExpressionError(f"'{name}' is a function; allowed: {name}(...)")

    def look_up(outcome: Namespace) -> Value:
        quantity = outcome.get(name)
        if quantity is None:
            known = ", ".join(outcome) or "none"
            raise ExpressionError(
                f"there is no quantity '{name}'{did_you_mean(name, [*outcome, *FUNCTIONS])};"
                f" allowed: {known}"
            )
        return quantity if quantity.axes else quantity.item

    return look_up


def _comparison(node: ast.Compare) -> CompiledExpression:
    sides = [compile_operand(side) for side in (node.left, *node.comparators)]
    tests = [_test(op) for op in node.ops]

    def compare(outcome: Namespace) -> Value:
        values = [side(outcome) for side in sides]
        result, *others = [
            test(left, right)
            for test, left, right in zip(tests, values[:-1], values[1:], strict=True)
        ]
        for other in others:
            result = apply_elementwise(np.logical_and, result, other)
        return result

    return compare


def compile_operand(node: ast.expr) -> CompiledExpression:
    """A side of a comparison, which may be a list (after `in`)."""
    if isinstance(node, ast.Tuple | ast.List):
        entries = [compile_expression(entry) for entry in node.elts]
        return lambda outcome: tuple(entry(outcome) for entry in entries)
    return compile_expression(node)


def _test(op: ast.cmpop) -> Callable[[Value, Value], Value]:
    if isinstance(op, ast.In | ast.NotIn):
        expected = isinstance(op, ast.In)

        def is_member(left: Value, right: Value) -> bool:
            if not isinstance(right, tuple) or isinstance(left, tuple):
                raise ExpressionError("`in` requires a value and a list; allowed: x in (3, 4)")
            entries = [require_scalar(entry, "in") for entry in right]
            if any(is_text(entry) != is_text(left) for entry in entries):
                raise ExpressionError("text cannot be compared with numbers")
            return (require_scalar(left, "in") in entries) == expected

        return is_member
    test = _TESTS.get(type(op))
    if test is None:
        raise ExpressionError("`is` is not allowed; allowed: < <= > >= == != in")

    def compare(left: Value, right: Value) -> Value:
        if isinstance(left, tuple) or isinstance(right, tuple):
            raise ExpressionError("a list is allowed after `in` only")
        if is_text(left) != is_text(right):
            raise ExpressionError("text cannot be compared with numbers")
        return apply_elementwise(test, left, right)

    return compare


def _logic(node: ast.BoolOp) -> CompiledExpression:
    parts = [compile_expression(value) for value in node.values]
    operation = np.logical_and if isinstance(node.op, ast.And) else np.logical_or

    def combine(outcome: Namespace) -> Value:
        result, *others = [require_bool(part(outcome), "and / or") for part in parts]
        for other in others:
            result = apply_elementwise(operation, result, other)
        return result

    return combine


def _sign(node: ast.UnaryOp) -> CompiledExpression:
    inner = compile_expression(node.operand)
    if isinstance(node.op, ast.Not):
        return lambda outcome: apply_elementwise(
            np.logical_not, require_bool(inner(outcome), "not")
        )
    if isinstance(node.op, ast.USub):
        return lambda outcome: apply_elementwise(_negative, require_number(inner(outcome)))
    if isinstance(node.op, ast.UAdd):
        return lambda outcome: require_number(inner(outcome))
    raise ExpressionError(f"'{ast.unparse(node)}' is not allowed")


def _arithmetic(node: ast.BinOp) -> CompiledExpression:
    operation = _OPERATIONS.get(type(node.op))
    if operation is None:
        raise ExpressionError(f"'{ast.unparse(node)}' is not allowed; allowed: + - * / **")
    left, right = compile_expression(node.left), compile_expression(node.right)
    return lambda outcome: apply_elementwise(
        operation, require_number(left(outcome)), require_number(right(outcome))
    )


def _compile_subscript(node: ast.Subscript) -> CompiledExpression:
    operand = compile_expression(node.value)
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    selections = [_compile_index(entry) for entry in entries]

    def select(outcome: Namespace) -> Value:
        part = operand(outcome)
        if not isinstance(part, Quantity):
            raise ExpressionError(f"'{ast.unparse(node.value)}' is a single value without axes")
        if len(selections) > len(part.axes):
            axes = ", ".join(part.dims)
            raise ExpressionError(f"there are {len(selections)} labels for the axes {axes}")
        dim = 0
        for selection in selections:
            before = len(part.axes)
            part = selection(part, dim, outcome)
            dim += len(part.axes) == before  # a single label removes the axis
        return to_scalar(part)

    return select


def _compile_index(node: ast.expr) -> Callable[[Quantity, int, Namespace], Quantity]:
    if not isinstance(node, ast.Slice):
        label = compile_expression(node)
        return lambda array, dim, outcome: array.sel(
            **{array.dims[dim]: require_scalar(label(outcome), "a label")}
        )
    if node.step is not None:
        raise ExpressionError("a slice must not have a step")
    ends = [None if end is None else compile_expression(end) for end in (node.lower, node.upper)]

    def cut(array: Quantity, dim: int, outcome: Namespace) -> Quantity:
        low, high = (
            None if end is None else require_scalar(end(outcome), "a label") for end in ends
        )
        return _slice_by_label(array, dim, low, high)

    return cut


def _slice_by_label(array: Quantity, dim: int, low: Any, high: Any) -> Quantity:
    """The part of an array between two coordinates of an axis, both included."""
    axis = array.axes[dim]
    if axis.values.dtype.kind == "U":
        first = 0 if low is None else axis.index_of(low)
        last = len(axis) - 1 if high is None else axis.index_of(high)
        indices = np.arange(first, last + 1)
    else:
        if isinstance(low, str) or isinstance(high, str):
            raise ExpressionError(
                f"axis {axis.name} has numbers as coordinates; allowed: {axis.format()}"
            )
        inside = np.ones(len(axis), bool)
        inside &= True if low is None else (axis.values >= low) | axis.isclose(low)
        inside &= True if high is None else (axis.values <= high) | axis.isclose(high)
        indices = np.flatnonzero(inside)
    if len(indices) == 0:
        raise ExpressionError(
            f"axis {axis.name} has no coordinate in this slice; allowed: {axis.format()}"
        )
    part = Axis(axis.name, axis.values[indices])
    axes = (*array.axes[:dim], part, *array.axes[dim + 1 :])
    return Quantity(np.take(array.values, indices, axis=dim), axes)


def _call(node: ast.Call) -> CompiledExpression:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    function = FUNCTIONS.get(name) if isinstance(node.func, ast.Name) else None
    if function is None:
        raise ExpressionError(
            f"there is no function '{name}'{did_you_mean(name, FUNCTIONS)};"
            f" allowed: {', '.join(FUNCTIONS)}"
        )
    if any(isinstance(entry, ast.Starred) for entry in node.args):
        raise ExpressionError("* is not allowed in a call")
    arguments = [compile_expression(entry) for entry in node.args]
    options: dict[str, CompiledExpression] = {}
    for entry in node.keywords:
        if entry.arg is None:
            raise ExpressionError("** is not allowed in a call")
        if entry.arg in options:
            raise ExpressionError(f"{name} has the argument '{entry.arg}' twice")
        options[entry.arg] = compile_expression(entry.value)
    if name not in ("at", "near") and set(options) - {"over"}:
        raise ExpressionError(
            f"{name} does not take '{min(set(options) - {'over'})}'; allowed: over='axis'"
        )
    if "over" in options and name not in REDUCTIONS:
        raise ExpressionError(f"{name} does not take 'over'")

    def call(outcome: Namespace) -> Value:
        values = [argument(outcome) for argument in arguments]
        try:
            return function(*values, **{key: option(outcome) for key, option in options.items()})
        except TypeError as error:
            if "argument" not in str(error):
                raise
            usage = (function.__doc__ or "").splitlines()[0]
            raise ExpressionError(f"{name} has invalid arguments; allowed: {usage}") from None

    return call


_BUILD: dict[type, Callable[[Any], CompiledExpression]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Compare: _comparison,
    ast.BoolOp: _logic,
    ast.UnaryOp: _sign,
    ast.BinOp: _arithmetic,
    ast.Subscript: _compile_subscript,
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


_OPERATIONS: dict[type, Any] = {
    ast.Add: _exact_integer_op(np.add),
    ast.Sub: _exact_integer_op(np.subtract),
    ast.Mult: _exact_integer_op(np.multiply),
    ast.Div: np.true_divide,
    ast.Pow: _power,
}
