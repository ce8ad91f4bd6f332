r"""Discrete variables whose joint distribution is a product of tables (PRML 8.1, 8.3; FCML 2.2).

    p(x) = 1/Z prod_s f_s(x_s)                                       PRML 8.5 (Z = 1), 8.39
    p(a) = sum over all other variables                                  the sum rule
    p(a | b) = p(a, b) / p(b)                                           the product rule

A factor may be a conditional table p(child | parents), a joint table or a potential. Sums are over
all states, in an order that einsum chooses.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bythebook.models.graphs.factors import Factor
from bythebook.models.types import Floats


def total(factors: Sequence[Factor]) -> float:
    """Z, the sum of the product over everything; one for conditional tables of a directed graph."""
    return float(_summed(factors, ()))


def marginal(factors: Sequence[Factor], of: Sequence[str]) -> Floats:
    """p(of), an axis for each variable in the order given."""
    Z = total(factors)
    kept = _summed(factors, tuple(of))
    return kept if abs(Z - 1) < 1e-9 else kept / Z  # rounding of printed tables is not corrected


def conditional(factors: Sequence[Factor], of: Sequence[str], given: Sequence[str]) -> Floats:
    """p(of | given), axes of both in this order; NaN where the condition has probability zero."""
    both = _summed(factors, (*of, *given))
    with np.errstate(invalid="ignore"):
        return np.asarray(both / both.sum(axis=tuple(range(len(of)))))


def connected(factors: Sequence[Factor], names: Iterable[str]) -> list[Factor]:
    """The factors connected with some variables, through any chain of others."""
    found, ahead = set[str](), set(names)
    while ahead:
        found |= ahead
        ahead = {n for f in factors if found & set(f.variables) for n in f.variables} - found
    return [factor for factor in factors if found & set(factor.variables)]


def _summed(factors: Sequence[Factor], kept: tuple[str, ...]) -> Floats:
    """The product of all factors, summed over all variables that are not kept."""
    names = {name: i for i, name in enumerate(dict.fromkeys(n for f in factors for n in f[0]))}
    operands: list[Any] = []
    for variables, table in factors:
        operands += [table, [names[n] for n in variables]]
    return np.asarray(np.einsum(*operands, [names[n] for n in kept], optimize="greedy"))
