"""All graphs of a few nodes: their independence statements, and equivalences of the two kinds.

A statement says that sets A and B of nodes are independent given a set C. Rules of inference are
those of all distributions (symmetry, decomposition, weak union, contraction) and intersection,
which holds for positive distributions (MLAPP 19.2.1).
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.structure import (
    Dag,
    Nodes,
    Statement,
    Undirected,
    all_dags,
    all_undirected,
    links,
    separated,
    stated,
    stated_undirected,
)
from bythebook.models.types import Floats


class Triple(NamedTuple):
    """The nodes of `one` and of `other` are independent given those of `given`."""

    one: Nodes
    other: Nodes
    given: Nodes


@cache
def directed_graphs(M: int) -> dict[Dag, frozenset[Statement]]:
    """Every directed acyclic graph, and the statements about pairs that it makes."""
    return {graph: stated(graph) for graph in all_dags(M)}


@cache
def directed_stating(M: int) -> Counter[frozenset[Statement]]:
    """The number of directed acyclic graphs with exactly these statements about pairs."""
    return Counter(directed_graphs(M).values())


@cache
def undirected_stating(M: int) -> dict[frozenset[Statement], Undirected]:
    """Every undirected graph, by the statements about pairs that it makes; no two make the same."""
    return {stated_undirected(graph): graph for graph in all_undirected(M)}


def is_tree(graph: Undirected) -> bool:
    """Whether the graph is a tree: connected, with one link fewer than nodes."""
    return _connected(graph) and len(links(graph)) == len(graph) - 1


def is_ring(graph: Undirected) -> bool:
    """Whether the graph is one cycle through four or more nodes, connected and of degree two."""
    return len(graph) > 3 and _connected(graph) and all(len(near) == 2 for near in graph)


def _connected(graph: Undirected) -> bool:
    first = frozenset([0])
    return all(
        not separated(graph, first, frozenset([i]), frozenset()) for i in range(1, len(graph))
    )


def shapes(M: int) -> list[Undirected]:
    """Undirected graphs that differ in more than the names of their nodes."""
    seen: set[frozenset[frozenset[int]]] = set()
    found = []
    for graph in all_undirected(M):
        pairs = [frozenset(pair) for pair in links(graph)]
        if frozenset(pairs) in seen:
            continue
        found.append(graph)
        for names in permutations(range(M)):
            seen.add(frozenset(frozenset(names[i] for i in pair) for pair in pairs))
    return found


def triples(M: int) -> Iterator[Triple]:
    """All statements about sets of nodes, each in both orders."""
    for one in _sets(frozenset(range(M))):
        for other in _sets(frozenset(range(M)) - one):
            for given in (frozenset[int](), *_sets(frozenset(range(M)) - one - other)):
                yield Triple(one, other, given)


def _sets(nodes: Nodes) -> Iterator[Nodes]:
    """All non-empty sets of some nodes."""
    for size in range(1, len(nodes) + 1):
        yield from (frozenset(some) for some in combinations(sorted(nodes), size))


def global_statements(graph: Undirected) -> set[Triple]:
    """The statements of separation."""
    return {t for t in triples(len(graph)) if separated(graph, *t)}


def local_statements(graph: Undirected) -> set[Triple]:
    """Every node is independent of all others given its neighbours."""
    every = frozenset(range(len(graph)))
    each = [(frozenset([i]), every - near - {i}, near) for i, near in enumerate(graph)]
    return {Triple(*t) for one, rest, near in each if rest for t in _both(one, rest, near)}


def pairwise_statements(graph: Undirected) -> set[Triple]:
    """Nodes without a link are independent given all others."""
    every = frozenset(range(len(graph)))
    pairs = [(i, j) for i, j in combinations(every, 2) if j not in graph[i]]
    return {
        Triple(*t) for i, j in pairs for t in _both(frozenset([i]), frozenset([j]), every - {i, j})
    }


def _both(one: Nodes, other: Nodes, given: Nodes) -> list[tuple[Nodes, Nodes, Nodes]]:
    return [(one, other, given), (other, one, given)]


def derived(known: set[Triple], *, positive: bool) -> set[Triple]:
    """All consequences of statements by the rules; positive distributions have one rule more."""
    found, ahead = set(known), list(known)
    while ahead:
        last = ahead.pop()
        new = set(_weaker(last))
        for other in (t for t in found if t.one == last.one):
            new |= {*_joined(last, other, positive), *_joined(other, last, positive)}
        ahead += new - found
        found |= new
    return found


def _weaker(t: Triple) -> Iterator[Triple]:
    """Symmetry, decomposition and weak union."""
    yield Triple(t.other, t.one, t.given)
    for less in _sets(t.other):
        yield Triple(t.one, less, t.given)
        if less != t.other:
            yield Triple(t.one, less, t.given | (t.other - less))


def _joined(a: Triple, b: Triple, positive: bool) -> Iterator[Triple]:
    """Contraction, and intersection."""
    if a.given == b.given | b.other and not a.other & b.other:
        yield Triple(a.one, a.other | b.other, b.given)
    if positive and not a.other & b.other:
        rest = a.given - b.other
        if a.given == rest | b.other and b.given == rest | a.other:
            yield Triple(a.one, a.other | b.other, rest)


def unmonotone(said: frozenset[Statement], M: int) -> int:
    """The number of statements about pairs that do not hold when one more node is given."""
    return sum(
        Statement(s.a, s.b, s.given | {more}) not in said
        for s in said
        for more in set(range(M)) - {s.a, s.b} - s.given
    )


def copies(M: int) -> Floats:
    """The joint table of M copies of one fair coin, which gives most settings probability zero."""
    joint = np.zeros([2] * M)
    joint[(0,) * M] = joint[(1,) * M] = 0.5
    return joint
