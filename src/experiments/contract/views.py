"""Views of an outcome: the scalars and curves that MLflow charts, and tables for reading."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from experiments.contract.expressions import evaluate
from experiments.contract.labelled import BadExpression
from experiments.contract.outcome import Axis, Outcome, Quantity, Scalar

Table = dict[str, list[Any]]  # columns of equal length
Curve = tuple[list[int], list[float]]  # steps and values
LONGEST_CURVE = 200  # points
LONGEST_TABLE = 2000  # rows
WIDEST = 12  # columns that the labels of other axes may become


def scalars(outcome: Outcome, headline: Mapping[str, str]) -> dict[str, Scalar]:
    """Quantities without axes, and the study's headline: expressions by name."""
    found = {name: q.item for name, q in outcome.items() if not q.axes}
    for name, expression in headline.items():
        try:
            value = evaluate(expression, outcome)
        except BadExpression:  # of a quantity that these knobs do not ask for
            continue
        if not isinstance(value, Quantity):
            found[name] = value
    return found


def curves(outcome: Outcome) -> dict[str, Curve]:
    """Numbers over whole-numbered coordinates, of a length that a chart can show."""
    return {
        name: (q.axes[0].values.tolist(), q.values.astype(float).tolist())
        for name, q in outcome.items()
        if len(q.axes) == 1
        and len(q) <= LONGEST_CURVE
        and q.values.dtype.kind in "fib"
        and q.axes[0].values.dtype.kind == "i"
    }


def tables(outcome: Outcome) -> dict[str, Table]:
    """A table for every axis: its coordinates, and what is recorded along it.

    Short other axes become columns, `loss[test]`, `rank[chain, 2]`.
    """
    found: dict[str, Table] = {}
    for name, quantity in outcome.items():
        for row, columns in _columns(name, quantity):
            table = found.setdefault(row.name, {row.name: row.values.tolist()})
            table |= columns
    return found


def _columns(name: str, quantity: Quantity) -> list[tuple[Axis, Table]]:
    axes = quantity.axes
    if not axes:
        return []
    row = max(range(len(axes)), key=lambda k: len(axes[k]))  # of equal ones the first
    others = [entry for k, entry in enumerate(axes) if k != row]
    wide = math.prod(len(entry) for entry in others)
    if len(axes[row]) > LONGEST_TABLE or (others and wide > WIDEST):
        return []
    entries = np.moveaxis(quantity.values, row, -1).reshape(wide, len(axes[row]))
    labels = product(*(entry.values.tolist() for entry in others))
    return [
        (
            axes[row],
            {
                name + (f"[{', '.join(map(str, label))}]" if label else ""): part.tolist()
                for label, part in zip(labels, entries, strict=True)
            },
        )
    ]
