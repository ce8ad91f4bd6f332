"""What an expression came to, and the numbers that a reader needs to see why."""

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.contract.expressions import Names, compiled, compiled_side, guarded, parsed
from experiments.contract.labelled import Value, aligned, is_text
from experiments.contract.outcome import Quantity


@dataclass(frozen=True)
class Evidence:
    """What an expression came to, and the numbers that a reader needs to see why."""

    value: Value
    told: str


def evidence(text: str, outcome: Names) -> Evidence:
    """The value of a statement with the evaluated sides of its comparisons."""
    tree = parsed(text)

    def told(names: Names) -> Evidence:
        return _told(tree, names)

    found = guarded(text, told, outcome)
    assert isinstance(found, Evidence)
    return found


def _told(node: ast.expr, outcome: Names) -> Evidence:
    if isinstance(node, ast.BoolOp):
        parts = [_told(value, outcome) for value in node.values]
        word = " and " if isinstance(node.op, ast.And) else " or "
        return Evidence(compiled(node)(outcome), word.join(part.told for part in parts))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _told(node.operand, outcome)
        return Evidence(compiled(node)(outcome), f"not ({inner.told})")
    value = compiled(node)(outcome)
    if isinstance(node, ast.Compare) and isinstance(value, bool):
        sides = [compiled_side(side)(outcome) for side in (node.left, *node.comparators)]
        return Evidence(value, _chain(sides, node.ops))
    if _is_reduced_comparison(node):
        assert isinstance(node, ast.Call)
        return Evidence(value, _places(node, outcome))
    if isinstance(value, Quantity):
        return Evidence(value, f"an array over {', '.join(value.names)}")
    return Evidence(value, shown(value))


def _is_reduced_comparison(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("all", "any")
        and not node.keywords
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Compare)
    )


def _places(node: ast.Call, outcome: Names) -> str:
    """In how many places a comparison holds, and the one where it is closest to turning over."""
    inner = node.args[0]
    assert isinstance(inner, ast.Compare)
    truths = compiled(inner)(outcome)
    if not isinstance(truths, Quantity):
        return shown(truths)
    count = f"{int(truths.values.sum())} of {truths.values.size}"
    sides = [compiled_side(side)(outcome) for side in (inner.left, *inner.comparators)]
    if len(sides) != 2 or isinstance(sides[1], tuple) or any(map(is_text, sides)):
        return count
    shape, op = truths.values.shape, inner.ops[0]
    full = [np.broadcast_to(aligned(side, truths.names), shape) for side in sides]
    gap = full[0].astype(float) - full[1].astype(float)
    margin = -gap if isinstance(op, ast.Lt | ast.LtE) else gap
    if isinstance(op, ast.Eq | ast.NotEq):
        margin = np.abs(gap) if isinstance(op, ast.NotEq) else -np.abs(gap)
    margin = np.where(np.isnan(margin), -np.inf, margin)
    is_all = isinstance(node.func, ast.Name) and node.func.id == "all"
    index = np.unravel_index(int(np.argmin(margin) if is_all else np.argmax(margin)), shape)
    labels = zip(truths.axes, index, strict=True)
    where = ", ".join(f"{entry.name} {shown(entry.values[i].item())}" for entry, i in labels)
    return f"{count}; closest at {where}: {_chain([side[index].item() for side in full], [op])}"


def _chain(sides: list[Any], ops: list[ast.cmpop]) -> str:
    numbers = [side for side in sides if isinstance(side, float)]
    digits = next(
        (d for d in (4, 6, 9, 17) if len({f"{n:.{d}g}" for n in numbers}) == len(set(numbers))), 17
    )
    words = [_sides(side, digits) for side in sides]
    symbols = [_SYMBOLS[type(op)] for op in ops]
    return words[0] + "".join(f" {s} {w}" for s, w in zip(symbols, words[1:], strict=True))


def _sides(side: Any, digits: int) -> str:
    if isinstance(side, tuple):
        return "(" + ", ".join(shown(entry, digits) for entry in side) + ")"
    return shown(side, digits)


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


def shown(value: Any, digits: int = 6) -> str:
    """A value for people."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
