"""Parser and evaluator of expressions over an outcome, the language of claims.

    argmin(loo_loss)                              the coordinate of the minimum
    min(loo_loss[6:8]) > max(loo_loss[1:5])       labels, and closed slices by coordinate
    share(argmin(loo_loss, over='order') == 3)    along one axis, for each index of the others

The language is a subset of Python: names are quantities or functions (`functions`), and the axes
of arrays are matched by name. There are no attributes, methods, loops or imports; the size of an
expression and of its arrays is bounded. Names of `let` stand for expressions (`let`). One walk over
the syntax tree gives the value and the numbers behind it (`evidence`).
"""

import ast
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from bythebook.experiments.core import evidence, operations
from bythebook.experiments.core.alignment import ExpressionError, Value, require_number
from bythebook.experiments.core.functions import CONSTANTS, FUNCTIONS, REDUCTIONS
from bythebook.experiments.core.let import MAX_CHARS, Let, expand, parse
from bythebook.experiments.core.outcome import Quantity
from bythebook.experiments.core.suggestions import did_you_mean

MAX_NODES = 200  # of the syntax tree

Namespace = Mapping[str, Quantity]
__all__ = ["MAX_CHARS", "MAX_NODES", "evaluate", "explain", "quantity_names"]


class Explanation(NamedTuple):
    """The value of an expression, and a text with the numbers behind it."""

    value: Value
    text: str


class _Result(NamedTuple):
    """The value of a part of an expression, and what is needed to describe it."""

    value: Value
    description: Callable[[], str] | None = None  # of the value itself if there is none
    symbols: tuple[str, ...] = ()  # of a comparison
    sides: tuple[Value, ...] = ()

    def describe(self) -> str:
        """The numbers behind the value."""
        return self.description() if self.description else evidence.describe_value(self.value)


def evaluate(text: str, outcome: Namespace, let: Let | None = None) -> Value:
    """The value of an expression: a plain number, boolean or text, or a Quantity."""
    return _guard(text, lambda: _evaluate(_tree(text, let, outcome), outcome).value)


def explain(text: str, outcome: Namespace, let: Let | None = None) -> Explanation:
    """The value of an expression with the numbers behind it."""

    def evaluate_and_describe() -> Explanation:
        result = _evaluate(_tree(text, let, outcome), outcome)
        return Explanation(result.value, result.describe())

    explanation: Explanation = _guard(text, evaluate_and_describe)
    return explanation


def quantity_names(text: str, let: Let | None = None) -> set[str]:
    """The quantities in an expression; an invalid expression is refused."""
    tree = _guard(text, lambda: _tree(text, let))
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in called and node.id not in CONSTANTS
    }


def _guard(text: str, function: Callable[[], Any]) -> Any:
    """The value of a function; an error becomes a line that begins with the expression."""
    try:
        with np.errstate(all="ignore"):
            return function()
    except ExpressionError as error:
        line = str(error)
        raise ExpressionError(line if line.startswith(text[:40]) else f"{text}: {line}") from None
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        reason = error.args[0] if isinstance(error, LookupError) and error.args else error
        message = " ".join(str(reason).split()) or type(error).__name__
        raise ExpressionError(f"{text}: {message}") from None


def _tree(text: str, let: Let | None, outcome: Namespace | None = None) -> ast.expr:
    """The checked syntax tree of an expression without names of `let`."""
    if let and outcome is not None:
        hidden = [name for name in map(_name_of, let) if name in outcome]
        if hidden:
            raise ExpressionError(f"let: '{hidden[0]}' is a quantity; allowed: a name of its own")
    return _checked_tree(text, tuple(let.items()) if let else ())


def _name_of(head: str) -> str:
    return head.partition("(")[0].strip()


@cache
def _checked_tree(text: str, let: tuple[tuple[str, str], ...]) -> ast.expr:
    tree = expand(text, dict(let)) if let else parse(text)
    nodes = list(ast.walk(tree))
    if len(nodes) > MAX_NODES:
        raise ExpressionError(f"{text[:40]}...: the expression has more than {MAX_NODES} nodes")
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    lists = {id(entry) for node in nodes for entry in _allowed_lists(node)}
    for node in nodes:
        if id(node) not in called and id(node) not in lists:
            _check(node)
    return tree


def _allowed_lists(node: ast.AST) -> list[ast.expr]:
    """The lists of a node that may stand there: after `in`, and as several labels."""
    match node:
        case ast.Compare(ops=ops, comparators=sides):
            pairs = zip(ops, sides, strict=True)
            entries = [side for op, side in pairs if isinstance(op, ast.In | ast.NotIn)]
        case ast.Subscript(slice=index):
            entries = [index]
        case _:
            return []
    return [entry for entry in entries if isinstance(entry, ast.Tuple | ast.List)]


def _check(node: ast.AST) -> None:
    """Refuse a node that is no part of the language."""
    match node:
        case ast.Constant(value=value):
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                line = f"'{ast.unparse(node)}' is not allowed; allowed: numbers and text"
                raise ExpressionError(line)
            if isinstance(value, int) and abs(value) > 2**53:
                raise ExpressionError(f"'{ast.unparse(node)}' is too large for an integer")
        case ast.Name(id=name) if name in FUNCTIONS:
            raise ExpressionError(f"'{name}' is a function; allowed: {name}(...)")
        case ast.Call():
            _check_call(node)
        case ast.BinOp(op=op) if type(op) not in _ARITHMETIC:
            raise ExpressionError(f"'{ast.unparse(node)}' is not allowed; allowed: + - * / **")
        case ast.Compare(ops=ops) if any(type(op) not in _COMPARISONS for op in ops):
            raise ExpressionError("`is` is not allowed; allowed: < <= > >= == != in")
        case ast.Tuple() | ast.List():
            raise ExpressionError("a list is allowed after `in` only")
        case ast.UnaryOp(op=ast.Invert()):
            raise ExpressionError(f"'{ast.unparse(node)}' is not allowed")
        case ast.Slice(step=ast.expr()):
            raise ExpressionError("a slice must not have a step")
        case ast.expr() if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"'{ast.unparse(node)}' is not allowed in an expression")


def _check_call(node: ast.Call) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
    if not isinstance(node.func, ast.Name) or name not in FUNCTIONS:
        raise ExpressionError(
            f"there is no function '{name}'{did_you_mean(name, FUNCTIONS)};"
            f" allowed: {', '.join(FUNCTIONS)}"
        )
    if any(isinstance(entry, ast.Starred) for entry in node.args):
        raise ExpressionError("* is not allowed in a call")
    options = [entry.arg for entry in node.keywords]
    for option in options:
        if option is None:
            raise ExpressionError("** is not allowed in a call")
        if options.count(option) > 1:
            raise ExpressionError(f"{name} has the argument '{option}' twice")
        if name not in ("at", "near") and option not in _options(name):
            allowed = _usage(name)
            raise ExpressionError(f"{name} does not take '{option}'; allowed: {allowed}")


def _options(name: str) -> tuple[str, ...]:
    if name == "agree":
        return ("along", "within")
    return ("over",) if name in REDUCTIONS else ()


def _usage(name: str) -> str:
    return (FUNCTIONS[name].__doc__ or "").splitlines()[0]


def _evaluate(node: ast.expr, outcome: Namespace) -> _Result:
    """The value of a node, and a function that describes the numbers behind it."""
    match node:
        case ast.Name(id=name):
            return _Result(CONSTANTS[name] if name in CONSTANTS else _look_up(name, outcome))
        case ast.Constant(value=value):
            return _Result(value)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _call(name, args, keywords, outcome)
        case ast.Subscript(value=array, slice=index):
            return _Result(_select(node, _evaluate(array, outcome).value, index, outcome))
        case ast.Compare(left=left, ops=ops, comparators=others):
            symbols = tuple(_COMPARISONS[type(op)] for op in ops)
            sides = tuple(_evaluate(side, outcome).value for side in (left, *others))
            value = operations.compare_chain(symbols, sides)
            describe = partial(evidence.describe_comparison, symbols, sides, value)
            return _Result(value, describe, symbols, sides)
        case ast.BinOp(left=left, op=op, right=right):
            sides = (_evaluate(left, outcome).value, _evaluate(right, outcome).value)
            return _Result(operations.arithmetic(_ARITHMETIC[type(op)], *sides))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            part = _evaluate(inner, outcome)
            return _Result(operations.negation(part.value), lambda: f"not ({part.describe()})")
        case ast.UnaryOp(op=op, operand=inner):
            value = require_number(_evaluate(inner, outcome).value)
            return _Result(operations.negative(value) if isinstance(op, ast.USub) else value)
        case ast.BoolOp(op=op, values=values):
            word = "and" if isinstance(op, ast.And) else "or"
            parts = [_evaluate(value, outcome) for value in values]
            value = operations.logic(word, [part.value for part in parts])
            return _Result(value, lambda: f" {word} ".join(part.describe() for part in parts))
        case ast.Tuple(elts=entries) | ast.List(elts=entries):
            return _Result(tuple(_evaluate(entry, outcome).value for entry in entries))
    raise ExpressionError(f"'{ast.unparse(node)}' is not allowed in an expression")


def _look_up(name: str, outcome: Namespace) -> Value:
    quantity = outcome.get(name)
    if quantity is None:
        known = ", ".join(outcome) or "none"
        raise ExpressionError(
            f"there is no quantity '{name}'{did_you_mean(name, [*outcome, *FUNCTIONS])};"
            f" allowed: {known}"
        )
    return quantity if quantity.axes else quantity.item


def _call(
    name: str, args: list[ast.expr], keywords: list[ast.keyword], outcome: Namespace
) -> _Result:
    parts = [_evaluate(arg, outcome) for arg in args]
    values = [part.value for part in parts]
    options = {str(entry.arg): _evaluate(entry.value, outcome).value for entry in keywords}
    try:
        value = FUNCTIONS[name](*values, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ExpressionError(f"{name} has invalid arguments; allowed: {_usage(name)}") from None
    if name in ("all", "any") and not options and parts[0].symbols:
        symbols, sides = parts[0].symbols, parts[0].sides
        describe = partial(evidence.describe_cases, name, values[0], symbols, sides)
    else:
        describe = partial(evidence.describe_call, name, values, options, value)
    return _Result(value, describe)


def _select(node: ast.Subscript, array: Value, index: ast.expr, outcome: Namespace) -> Value:
    if not isinstance(array, Quantity):
        raise ExpressionError(f"'{ast.unparse(node.value)}' is a single value without axes")
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    return operations.select(array, [_index(entry, outcome) for entry in entries])


def _index(node: ast.expr, outcome: Namespace) -> Any:
    if not isinstance(node, ast.Slice):
        return _evaluate(node, outcome).value
    ends = (node.lower, node.upper)
    return slice(*(None if end is None else _evaluate(end, outcome).value for end in ends))


_ARITHMETIC: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_COMPARISONS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_ALLOWED = (
    *(ast.Constant, ast.Name, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.Subscript, ast.Slice, ast.Call),
)
