r"""Cutset conditioning: messages on the remaining graph for each value (Ghahramani 8.5).

P(x | e) = sum over c of P(x | c, e) P(c | e)                                              42
"""

from collections.abc import Sequence
from itertools import product as settings_of
from math import prod
from typing import NamedTuple

from bythebook.models.graphs.factors import Factor, condition, sizes
from bythebook.models.graphs.propagation import (
    FactorGraph,
    Messages,
    factor_graph,
    marginal,
    roots,
    two_passes,
)
from bythebook.models.types import Floats


class Case(NamedTuple):
    """Results of messages for one setting of the cutset: P(c, e), and P(x | c, e) of each x."""

    setting: tuple[int, ...]
    weight: float
    beliefs: dict[str, Floats]


def cut(factors: Sequence[Factor], cutset: Sequence[str]) -> FactorGraph:
    """The graph that remains when the variables of the cutset are given."""
    return factor_graph([f for f in _given(factors, dict.fromkeys(cutset, 0)) if f.variables])


def _given(factors: Sequence[Factor], setting: dict[str, int]) -> list[Factor]:
    return [condition(factor, setting) for factor in factors]


def cases(factors: Sequence[Factor], cutset: Sequence[str]) -> list[Case]:
    """One run of messages per setting of the cutset; the remaining graph must have no loops."""
    states = sizes(factors)
    found = []
    for at in settings_of(*(range(states[name]) for name in cutset)):
        seen = _given(factors, dict(zip(cutset, at, strict=True)))
        graph = factor_graph([factor for factor in seen if factor.variables])
        weight = prod(float(factor.table) for factor in seen if not factor.variables)
        messages: Messages = {}
        for root in roots(graph):
            messages |= two_passes(graph, root)
            weight *= float(marginal(graph, messages, str(root)).sum())
        unscaled = {x: marginal(graph, messages, x) for x in graph.states}
        found.append(Case(at, weight, {x: own / own.sum() for x, own in unscaled.items()}))
    return found


def averaged(found: Sequence[Case], name: str) -> Floats:
    """The belief of a variable outside the cutset (42)."""
    total = sum(case.weight for case in found)
    return sum((case.weight / total) * case.beliefs[name] for case in found)  # type: ignore[return-value]
