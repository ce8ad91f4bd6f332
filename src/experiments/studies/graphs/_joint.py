"""Errors of messages against the table of all variables, and records of draws side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bythebook.experiments.core.outcome import Axis, Quantity, over
from bythebook.models.graphs.factors import (
    SUM_PRODUCT,
    Factor,
    Semiring,
    clamp,
    condition,
    keep,
    product,
)
from bythebook.models.graphs.propagation import FactorGraph, Messages, factor_graph, marginal
from bythebook.models.types import AnyArray, Floats


def with_joint(
    tables: Sequence[Factor], given: Mapping[str, int], ring: Semiring
) -> tuple[FactorGraph, Factor]:
    """The graph with observed variables clamped, and the table of all others."""
    seen = [condition(factor, given) for factor in tables]
    return factor_graph(clamp(tables, given, ring)), product(seen, ring)


def error(
    graph: FactorGraph, messages: Messages, exact: Factor, ring: Semiring = SUM_PRODUCT
) -> float:
    """The largest error of a variable that was not observed."""
    return max(
        off(marginal(graph, messages, name, ring), keep(exact, [name], ring).table)
        for name in exact.variables
    )


def posterior_error(graph: FactorGraph, messages: Messages, exact: Factor) -> float:
    """The same for probabilities: both tables are divided by their sums."""
    pairs = [(marginal(graph, messages, x), keep(exact, [x]).table) for x in exact.variables]
    return max(off(shared(found), shared(right)) for found, right in pairs)


def off(found: AnyArray, exact: Floats) -> float:
    """The largest difference, as a share of the largest entry."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def shared(weights: Floats) -> Floats:
    """Numbers divided by their sum."""
    return np.asarray(weights / weights.sum())


def side_by_side(tried: Sequence[Any], draw: Axis, **more: Axis) -> dict[str, Quantity]:
    """The fields of records, one per draw; `more` names the axis of a field that is a list."""
    return {
        name: over(
            [getattr(one, name) for one in tried], *([draw, more[name]] if name in more else [draw])
        )
        for name in tried[0]._fields
    }
