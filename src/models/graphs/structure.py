"""Directed and undirected graphs, and their independences (PRML 8.2, 8.3; MLAPP 19.2).

A graph over the nodes 0 .. M - 1 is a tuple of sets: of a directed one the parents of each node,
of an undirected one its neighbours.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations, product
from typing import NamedTuple

Nodes = frozenset[int]
Dag = tuple[Nodes, ...]
Undirected = tuple[Nodes, ...]


class Statement(NamedTuple):
    """Nodes a and b are independent given some others."""

    a: int
    b: int
    given: Nodes


def dag(M: int, arrows: Iterable[tuple[int, int]]) -> Dag:
    """The directed graph with these arrows, each from its first node to its second."""
    arrows = list(arrows)
    return tuple(frozenset(i for i, j in arrows if j == node) for node in range(M))


def undirected(M: int, links: Iterable[Iterable[int]]) -> Undirected:
    """The undirected graph with these links."""
    pairs = [frozenset(link) for link in links]
    return tuple(
        frozenset(other for pair in pairs if node in pair for other in pair - {node})
        for node in range(M)
    )


def links(graph: Undirected) -> list[tuple[int, int]]:
    """The links of an undirected graph, the smaller node first."""
    return [(i, j) for i in range(len(graph)) for j in sorted(graph[i]) if i < j]


def arrows(graph: Dag) -> list[tuple[int, int]]:
    """The arrows of a directed graph, sorted."""
    return sorted((parent, node) for node in range(len(graph)) for parent in graph[node])


def children(graph: Dag, node: int) -> Nodes:
    return frozenset(child for child in range(len(graph)) if node in graph[child])


def order(graph: Dag) -> list[int] | None:
    """An order in which no arrow points backwards, or none where there is a directed cycle."""
    done: list[int] = []
    left = set(range(len(graph)))
    while left:
        ready = [node for node in sorted(left) if not graph[node] & left]
        if not ready:
            return None
        done += ready
        left -= set(ready)
    return done


def closure(graph: Dag, nodes: Iterable[int]) -> Nodes:
    """The nodes and all their ancestors."""
    found: set[int] = set()
    ahead = set(nodes)
    while ahead:
        found |= ahead
        ahead = {parent for node in ahead for parent in graph[node]} - found
    return frozenset(found)


def skeleton(graph: Dag) -> Undirected:
    """The graph without its arrowheads."""
    return undirected(len(graph), arrows(graph))


def moral(graph: Dag) -> Undirected:
    """Parents of a common child are married, then arrowheads are dropped (PRML 8.3.4)."""
    married = [pair for parents in graph for pair in combinations(sorted(parents), 2)]
    return undirected(len(graph), [*arrows(graph), *married])


def blanket(graph: Dag, node: int) -> Nodes:
    """Parents, children and the children's other parents (PRML 8.2.2)."""
    below = children(graph, node)
    return (graph[node] | below | {p for child in below for p in graph[child]}) - {node}


def among(graph: Undirected, nodes: Nodes) -> Undirected:
    """The subgraph of some of the nodes; the others remain without links."""
    return tuple(near & nodes if i in nodes else frozenset() for i, near in enumerate(graph))


def separated(graph: Undirected, one: Nodes, other: Nodes, given: Nodes) -> bool:
    """Whether every path from one set to the other passes through `given` (PRML 8.3.1)."""
    found: set[int] = set()
    ahead = set(one - given)
    while ahead:
        found |= ahead
        ahead = {near for node in ahead for near in graph[node]} - found - given
    return not found & other


def d_separated(graph: Dag, one: Nodes, other: Nodes, given: Nodes) -> bool:
    """Separation in the moral graph of the ancestors of all three sets (MLAPP 19.2.2)."""
    kept = closure(graph, one | other | given)
    ancestral = tuple(graph[i] if i in kept else frozenset() for i in range(len(graph)))
    return separated(moral(ancestral), one, other, given)


def d_separated_by_paths(graph: Dag, one: Nodes, other: Nodes, given: Nodes) -> bool:
    """Whether every path between the sets is blocked, by the definition (PRML 8.2.2)."""
    links = skeleton(graph)
    opened = closure(graph, given)  # a node with a descendant in `given` is an ancestor of it
    return all(
        any(_blocks(graph, path[k - 1 : k + 2], given, opened) for k in range(1, len(path) - 1))
        for start in one
        for end in other
        for path in paths(links, start, end)
    )


def _blocks(graph: Dag, triple: list[int], given: Nodes, opened: Nodes) -> bool:
    """Whether the middle node blocks a path through these three."""
    left, middle, right = triple
    head_to_head = {left, right} <= graph[middle]
    return middle not in opened if head_to_head else middle in given


def paths(graph: Undirected, start: int, end: int) -> Iterator[list[int]]:
    """All paths that visit no node twice."""

    def go_on(path: list[int]) -> Iterator[list[int]]:
        if path[-1] == end:
            yield path
            return
        for near in sorted(graph[path[-1]]):
            if near not in path:
                yield from go_on([*path, near])

    return go_on([start])


def statements(M: int) -> list[Statement]:
    """Every statement about two nodes given any set of the others."""
    return [
        Statement(a, b, frozenset(given))
        for a, b in combinations(range(M), 2)
        for size in range(M - 1)
        for given in combinations([i for i in range(M) if i not in (a, b)], size)
    ]


def stated(graph: Dag) -> frozenset[Statement]:
    """The statements about pairs that a directed graph makes."""
    return frozenset(
        s
        for s in statements(len(graph))
        if d_separated(graph, frozenset([s.a]), frozenset([s.b]), s.given)
    )


def stated_undirected(graph: Undirected) -> frozenset[Statement]:
    """The statements about pairs that an undirected graph makes."""
    return frozenset(
        s
        for s in statements(len(graph))
        if separated(graph, frozenset([s.a]), frozenset([s.b]), s.given)
    )


def all_directed(M: int) -> Iterator[Dag]:
    """All directed graphs with at most one arrow between two nodes, cyclic ones too."""
    pairs = list(combinations(range(M), 2))
    for ways in product((None, False, True), repeat=len(pairs)):
        turned = zip(pairs, ways, strict=True)
        yield dag(M, [(j, i) if way else (i, j) for (i, j), way in turned if way is not None])


def all_dags(M: int) -> Iterator[Dag]:
    """All directed acyclic graphs over M labelled nodes."""
    return (graph for graph in all_directed(M) if order(graph) is not None)


def all_undirected(M: int) -> Iterator[Undirected]:
    """All undirected graphs over M labelled nodes."""
    pairs = list(combinations(range(M), 2))
    for kept in product((False, True), repeat=len(pairs)):
        yield undirected(M, [pair for pair, keep in zip(pairs, kept, strict=True) if keep])


def cliques(graph: Undirected) -> list[Nodes]:
    """The maximal sets of nodes that are all linked, by Bron and Kerbosch, in sorted order."""

    def grow(chosen: Nodes, ahead: set[int], behind: set[int]) -> Iterator[Nodes]:
        if not ahead and not behind:
            yield chosen
        for node in sorted(ahead):
            near = graph[node]
            yield from grow(chosen | {node}, ahead & near, behind & near)
            ahead = ahead - {node}
            behind = behind | {node}

    return sorted(grow(frozenset(), set(range(len(graph))), set()), key=sorted)


def is_chordal(graph: Undirected) -> bool:
    """Whether nodes can be removed one by one, each with neighbours that are all linked."""
    left = frozenset(range(len(graph)))
    while left:
        inner = among(graph, left)
        simple = [i for i in sorted(left) if _all_linked(graph, inner[i])]
        if not simple:
            return False
        left -= {simple[0]}
    return True


def _all_linked(graph: Undirected, nodes: Nodes) -> bool:
    return all(j in graph[i] for i, j in permutations(nodes, 2))
