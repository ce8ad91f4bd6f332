r"""Loops cut by assumptions: messages on what is left, for each value of a cutset (Ghahramani 8.5).

P(x | e) = sum over c of P(x | c, e) P(c | e)                                              42
"""

from collections.abc import Sequence
from itertools import product as settings_of
from math import prod
from typing import NamedTuple

from models.graphs.factors import Factor, condition, sizes
from models.graphs.propagation import (
    FactorGraph,
    Messages,
    factor_graph,
    marginal,
    roots,
    two_passes,
)
from models.types import Floats


class Case(NamedTuple):
    """What messages give for one setting of the cutset: P(c, e), and P(x | c, e) of each x."""

    setting: tuple[int, ...]
    weight: float
    beliefs: dict[str, Floats]


def cut(factors: Sequence[Factor], cutset: Sequence[str]) -> FactorGraph:
    """The graph that is left once the variables of the cutset are given."""
    return factor_graph([f for f in _given(factors, dict.fromkeys(cutset, 0)) if f.variables])


def _given(factors: Sequence[Factor], setting: dict[str, int]) -> list[Factor]:
    return [condition(factor, setting) for factor in factors]


def cases(factors: Sequence[Factor], cutset: Sequence[str]) -> list[Case]:
    """One run of messages for each setting of the cutset; what is left must be without loops."""
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
