"""Scalar metrics, curves and tables of an outcome, for MLflow and for tables of results."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from bythebook.experiments.core.alignment import ExpressionError, single_value
from bythebook.experiments.core.expressions import evaluate
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, Scalar

Table = dict[str, list[Any]]  # columns of equal length
Curve = tuple[list[int], list[float]]  # steps and values
MAX_CURVE_POINTS = 200
MAX_TABLE_ROWS = 2000
MAX_TABLE_COLUMNS = 12  # one per combination of the coordinates of the other axes


def scalar_metrics(outcome: Outcome, headline: Mapping[str, str]) -> dict[str, Scalar]:
    """Quantities without axes, and the values of the study's `headline` expressions, by name."""
    metrics = {name: q.item for name, q in outcome.items() if not q.axes}
    for name, expression in headline.items():
        try:
            value = single_value(evaluate(expression, outcome))
        except ExpressionError:  # these parameters do not compute the quantity
            continue
        if not isinstance(value, Quantity):
            metrics[name] = value
    return metrics


def metric_curves(outcome: Outcome) -> dict[str, Curve]:
    """Numbers over integer coordinates, with at most `MAX_CURVE_POINTS` points, by name."""
    return {
        name: (q.axes[0].values.tolist(), q.values.astype(float).tolist())
        for name, q in outcome.items()
        if len(q.axes) == 1
        and len(q) <= MAX_CURVE_POINTS
        and q.values.dtype.kind in "fib"
        and q.axes[0].values.dtype.kind == "i"
    }


def result_tables(outcome: Outcome) -> dict[str, Table]:
    """One table per axis: its coordinates, and the quantities along it.

    Other axes become columns if they are short: `loss[test]`, `rank[chain, 2]`.
    """
    tables: dict[str, Table] = {}
    for name, quantity in outcome.items():
        for row, columns in _columns(name, quantity):
            table = tables.setdefault(row.name, {row.name: row.values.tolist()})
            table |= columns
    return tables


def _columns(name: str, quantity: Quantity) -> list[tuple[Axis, Table]]:
    axes = quantity.axes
    if not axes:
        return []
    row = max(range(len(axes)), key=lambda k: len(axes[k]))  # the first of equal lengths
    others = [entry for k, entry in enumerate(axes) if k != row]
    columns = math.prod(len(entry) for entry in others)
    if len(axes[row]) > MAX_TABLE_ROWS or (others and columns > MAX_TABLE_COLUMNS):
        return []
    entries = np.moveaxis(quantity.values, row, -1).reshape(columns, len(axes[row]))
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
