r"""Posteriors of all variables for many observations at once, by a junction tree.

Observed variables are removed from the tables, whose last axis then indexes the observations: one
sweep of Hugin messages between the cliques of the others answers all queries. All work that depends
only on which variables are observed is done once.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bythebook.models.graphs.elimination import min_fill
from bythebook.models.graphs.factors import Factor, scope, sizes
from bythebook.models.graphs.junction import junction_tree, schedule
from bythebook.models.graphs.structure import undirected
from bythebook.models.types import Floats, Ints


class _Link(NamedTuple):
    """A message between cliques: the axes that are summed out, and its shape."""

    sender: int
    receiver: int
    away: tuple[int, ...]
    shape: tuple[int, ...]


class _Evidence(NamedTuple):
    """A table with observed variables on its last axes, the clique it belongs to, its shape."""

    clique: int
    names: list[str]
    table: Floats
    shape: tuple[int, ...]


class Queries:
    """A model with a fixed set of observed variables."""

    def __init__(self, factors: Sequence[Factor], observed: Sequence[str]) -> None:
        states, hidden = sizes(factors), [n for n in scope(factors) if n not in observed]
        place = {name: k for k, name in enumerate(hidden)}
        own = [[place[n] for n in f.variables if n in place] for f in factors]
        graph = undirected(len(hidden), [(a, b) for of in own for a in of for b in of if a < b])
        tree = junction_tree(graph, min_fill(graph))
        scopes = [[hidden[k] for k in sorted(clique)] for clique in tree.cliques]
        self._start: list[Floats] = [np.ones([*(states[n] for n in s), 1]) for s in scopes]
        self._seen: list[_Evidence] = []
        for factor, of in zip(factors, own, strict=True):
            k = next(k for k, clique in enumerate(tree.cliques) if clique >= set(of))
            before = [n for n in factor.variables if n in observed]
            inner = [n for n in scopes[k] if n in factor.variables]
            order = [factor.variables.index(n) for n in [*inner, *before]]
            shape = tuple(states[n] if n in inner else 1 for n in scopes[k])
            table = factor.table.transpose(order)
            if before:
                self._seen.append(_Evidence(k, before, table, shape))
            else:
                self._start[k] = self._start[k] * table.reshape(*shape, 1)
        self._links = []
        for i, j in schedule(tree):
            kept = [n for n in scopes[i] if n in scopes[j]]
            away = tuple(k for k, n in enumerate(scopes[i]) if n not in kept)
            shape = tuple(states[n] if n in kept else 1 for n in scopes[j])
            self._links.append(_Link(i, j, away, shape))
        self._read = {}
        for name in hidden:
            at = min((k for k, s in enumerate(scopes) if name in s), key=lambda k: len(scopes[k]))
            away = tuple(k for k, n in enumerate(scopes[at]) if n != name)
            self._read[name] = (at, away)

    def posteriors(self, given: Mapping[str, Ints]) -> dict[str, Floats]:
        """P(x | observation) of every other variable, an array (observations, states).

        `given` has the observed states of each variable, arrays of one length.
        """
        tables = list(self._start)
        for k, names, table, shape in self._seen:
            at: Any = (..., *(given[name] for name in names))
            tables[k] = tables[k] * table[at].reshape(*shape, -1)
        sent: dict[tuple[int, int], Floats] = {}
        for i, j, away, shape in self._links:
            message = tables[i].sum(away)
            received = sent.get((j, i))
            sent[i, j] = message
            if received is not None:  # it contains the message in the other direction
                message = np.divide(
                    message, received, out=np.zeros(message.shape), where=received != 0
                )
            tables[j] = tables[j] * message.reshape(*shape, -1)
        found = {}
        count = reduce(max, (len(states) for states in given.values()), 1)
        for name, (k, away) in self._read.items():
            weights = tables[k].sum(away)
            share = weights / weights.sum(0)
            found[name] = np.broadcast_to(share, (len(share), count)).T
        return found
