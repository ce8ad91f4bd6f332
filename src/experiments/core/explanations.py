"""The value of an evaluated expression, with the numbers that explain it.

For a comparison these are its two sides; for `all` and `any`, the closest case.
"""

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from bythebook.experiments.core.alignment import Value, align, is_text
from bythebook.experiments.core.expressions import (
    Namespace,
    call_with_context,
    compile_expression,
    compile_operand,
    parse,
)
from bythebook.experiments.core.outcome import Quantity


@dataclass(frozen=True)
class Explanation:
    """The value of an expression, and a text with the numbers behind it."""

    value: Value
    text: str


def explain(text: str, outcome: Namespace) -> Explanation:
    """The value of a statement with the evaluated sides of its comparisons."""
    tree = parse(text)

    def explain_tree(names: Namespace) -> Explanation:
        return _explain(tree, names)

    explanation = call_with_context(text, explain_tree, outcome)
    assert isinstance(explanation, Explanation)
    return explanation


def _explain(node: ast.expr, outcome: Namespace) -> Explanation:
    if isinstance(node, ast.BoolOp):
        parts = [_explain(value, outcome) for value in node.values]
        operator = " and " if isinstance(node.op, ast.And) else " or "
        return Explanation(
            compile_expression(node)(outcome), operator.join(part.text for part in parts)
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _explain(node.operand, outcome)
        return Explanation(compile_expression(node)(outcome), f"not ({inner.text})")
    value = compile_expression(node)(outcome)
    if isinstance(node, ast.Compare) and isinstance(value, bool):
        sides = [compile_operand(side)(outcome) for side in (node.left, *node.comparators)]
        return Explanation(value, _format_comparison(sides, node.ops))
    if _is_reduced_comparison(node):
        assert isinstance(node, ast.Call)
        return Explanation(value, _explain_all(node, outcome))
    if isinstance(value, Quantity):
        return Explanation(value, f"an array over {', '.join(value.dims)}")
    return Explanation(value, format_side(value))


def _is_reduced_comparison(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("all", "any")
        and not node.keywords
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Compare)
    )


def _explain_all(node: ast.Call, outcome: Namespace) -> str:
    """The number of elements for which a comparison holds, and the element closest to the limit."""
    inner = node.args[0]
    assert isinstance(inner, ast.Compare)
    truths = compile_expression(inner)(outcome)
    if not isinstance(truths, Quantity):
        return format_side(truths)
    count = f"{int(truths.values.sum())} of {truths.values.size}"
    sides = [compile_operand(side)(outcome) for side in (inner.left, *inner.comparators)]
    if len(sides) != 2 or isinstance(sides[1], tuple) or any(map(is_text, sides)):
        return count
    shape, op = truths.values.shape, inner.ops[0]
    full = [np.broadcast_to(align(side, truths.dims), shape) for side in sides]
    gap = full[0].astype(float) - full[1].astype(float)
    margin = -gap if isinstance(op, ast.Lt | ast.LtE) else gap
    if isinstance(op, ast.Eq | ast.NotEq):
        margin = np.abs(gap) if isinstance(op, ast.NotEq) else -np.abs(gap)
    margin = np.where(np.isnan(margin), -np.inf, margin)
    is_all = isinstance(node.func, ast.Name) and node.func.id == "all"
    index = np.unravel_index(int(np.argmin(margin) if is_all else np.argmax(margin)), shape)
    labels = zip(truths.axes, index, strict=True)
    where = ", ".join(f"{entry.name} {format_side(entry.values[i].item())}" for entry, i in labels)
    closest = _format_comparison([side[index].item() for side in full], [op])
    return f"{count}; closest at {where}: {closest}"


def _format_comparison(sides: list[Any], ops: list[ast.cmpop]) -> str:
    numbers = [side for side in sides if isinstance(side, float)]
    digits = next(
        (d for d in (4, 6, 9, 17) if len({f"{n:.{d}g}" for n in numbers}) == len(set(numbers))), 17
    )
    texts = [_format_operand(side, digits) for side in sides]
    symbols = [_SYMBOLS[type(op)] for op in ops]
    return texts[0] + "".join(f" {s} {t}" for s, t in zip(symbols, texts[1:], strict=True))


def _format_operand(side: Any, digits: int) -> str:
    if isinstance(side, tuple):
        return "(" + ", ".join(format_side(entry, digits) for entry in side) + ")"
    return format_side(side, digits)


_SYMBOLS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}


def format_side(value: Any, digits: int = 6) -> str:
    """A value as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
