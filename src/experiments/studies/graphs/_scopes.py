"""Factors as an experiment file writes them, "a, b" or "c | a, b", without numbers."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.structure import Undirected, undirected
from bythebook.models.types import Floats


def split(scope: str) -> tuple[list[str], list[str]]:
    """Split "a, b | c" into the names before and after the bar."""
    before, _, behind = scope.partition("|")
    of, given = ([n.strip() for n in part.split(",") if n.strip()] for part in (before, behind))
    return of, given


def names(scopes: Sequence[str]) -> list[str]:
    """All variables in order of first occurrence; a child before its parents."""
    return list(dict.fromkeys(name for scope in scopes for part in split(scope) for name in part))


def scope_problems(knob: str, scopes: Sequence[str]) -> Iterator[str]:
    """Yield a message for each invalid factor of a list."""
    for scope in scopes:
        of, given = split(scope)
        if not of or len({*of, *given}) < len(of + given) or (given and len(of) > 1):
            yield f"study.{knob}: '{scope}'; allowed: 'a, b' or 'child | parents', each name once"


def drawn(scopes: Sequence[str], K: int, rng: Generator) -> list[Factor]:
    """Random tables: conditional ones sum to one, others are between 0.1 and 1."""
    found = []
    for scope in scopes:
        of, given = split(scope)
        if "|" in scope or len(of) == 1:
            table = rng.dirichlet(np.ones(K), [K] * len(given))
        else:
            table = rng.uniform(0.1, 1.0, [K] * len(of))
        found.append(Factor((*given, *of), table))
    return found


def network_problems(knob: str, scopes: Sequence[str]) -> Iterator[str]:
    """Yield a message for each invalid node of a directed network."""
    yield from scope_problems(knob, scopes)
    nodes = [split(scope)[0][0] for scope in scopes if split(scope)[0]]
    if not 2 <= len(nodes) <= 8 or len(set(nodes)) < len(nodes):
        yield f"study.{knob}: {nodes}; allowed: 2 to 8 different nodes"
    for k, scope in enumerate(scopes):
        if not set(split(scope)[1]) <= set(nodes[:k]):
            yield f"study.{knob}: '{scope}'; allowed: parents before children"


def random_network(
    scopes: Sequence[str], K: int, rng: Generator, concentration: float = 1.0
) -> tuple[list[Factor], Floats]:
    """Conditional tables with Dirichlet rows, and their product with an axis for each node."""
    tables = []
    for scope in scopes:
        (node,), given = split(scope)
        rows = rng.dirichlet(np.full(K, concentration), [K] * len(given))
        tables.append(Factor((*given, node), np.maximum(rows, np.finfo(float).tiny)))
    nodes = [table.variables[-1] for table in tables]
    return tables, np.asarray(keep(product(tables), nodes).table)


def links_of(scopes: Sequence[str], order: Sequence[str]) -> Undirected:
    """The undirected graph over `order` in which the variables of a factor are all linked."""
    families = [[order.index(n) for part in split(s) for n in part if n in order] for s in scopes]
    pairs = [(i, j) for family in families for i in family for j in family if i < j]
    return undirected(len(order), pairs)
