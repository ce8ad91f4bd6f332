"""Random factor graphs without loops, and the table of all their configurations."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.types import Floats


class FactorTree(NamedTuple):
    """Tables over variables 0, 1, ...; any two variables are connected by one path."""

    sizes: tuple[int, ...]  # states of each variable
    scopes: tuple[tuple[int, ...], ...]  # of each table
    tables: tuple[Floats, ...]


def random_factor_tree(rng: Generator, max_variables: int = 7) -> FactorTree:
    """Tables of one to three variables, of which no two share more than one."""
    sizes, scopes = [int(rng.integers(2, 4))], []
    for _ in range(int(rng.integers(2, 5))):
        new = min(int(rng.integers(1, 3)), max_variables - len(sizes))
        if new:
            first = len(sizes)
            sizes += rng.integers(2, 4, new).tolist()
            scope = [int(rng.integers(first)), *range(first, first + new)]
            scopes.append(tuple(rng.permutation(scope).tolist()))
    scopes += [(v,) for v in range(len(sizes)) if rng.random() < 0.4]
    tables = [rng.uniform(0.1, 2, [sizes[v] for v in scope]) for scope in scopes]
    return FactorTree(tuple(sizes), tuple(scopes), tuple(tables))


def product(graph: FactorTree) -> Floats:
    """The product of the tables, with an axis for each variable."""
    table = np.ones(graph.sizes)
    for scope, factor in zip(graph.scopes, graph.tables, strict=True):
        shape = [size if v in scope else 1 for v, size in enumerate(graph.sizes)]
        table = table * factor.transpose(np.argsort(scope)).reshape(shape)
    return table


def marginal(table: Floats, variables: Sequence[int]) -> Floats:
    """A table summed over all other variables; its axes are in the order of `variables`."""
    others = tuple(v for v in range(table.ndim) if v not in variables)
    return np.asarray(table.sum(others).transpose(np.argsort(np.argsort(variables))))
