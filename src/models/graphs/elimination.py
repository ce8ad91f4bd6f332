r"""Variable elimination, and the cost of an elimination order (MLAPP 20.3; PRML 8.4.6).

To sum a variable out, multiply the factors that contain it and sum over its states. The product
is over the variable and all its neighbours, which become linked: fill-in. The size of the largest
product is known from the graph alone, and the best order's, less one, is the treewidth (20.54).
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from bythebook.models.graphs.factors import (
    SUM_PRODUCT,
    Factor,
    Semiring,
    product,
    sum_out,
)
from bythebook.models.graphs.structure import Nodes, Undirected, cliques, links, undirected


class Step(NamedTuple):
    """One variable summed out: the number of factors, and the scopes before and after the sum."""

    away: str
    used: int
    product: tuple[str, ...]
    created: tuple[str, ...]


class Eliminated(NamedTuple):
    """The result, and the steps; `left` factors remained to be multiplied at the end."""

    answer: Factor
    steps: list[Step]
    left: int

    def operations(self, K: int) -> int:
        """Multiplications and additions if every variable has K states."""
        sums = sum((K - 1) * K ** len(step.created) for step in self.steps)
        products = sum((step.used - 1) * K ** len(step.product) for step in self.steps)
        return int(sums + products + (self.left - 1) * K ** len(self.answer.variables))


def eliminate(
    factors: Sequence[Factor], order: Iterable[str], ring: Semiring = SUM_PRODUCT
) -> Eliminated:
    """Sum the variables of `order` out, one after another; the result is over all others."""
    left = list(factors)
    steps = []
    for name in order:
        used = [factor for factor in left if name in factor.variables]
        whole = product(used, ring)
        new = sum_out(whole, [name], ring)
        left = [factor for factor in left if name not in factor.variables] + [new]
        steps.append(Step(name, len(used), whole.variables, new.variables))
    return Eliminated(product(left, ring), steps, len(left))


class Induced(NamedTuple):
    """The induced graph of an elimination order."""

    graph: Undirected  # the links that were there, and the fill-in
    fill_in: list[list[tuple[int, int]]]  # new links, step by step
    cliques: list[Nodes]  # each node and its neighbours at its elimination

    @property
    def width(self) -> int:
        """The size of the largest clique, less one."""
        return max(map(len, self.cliques)) - 1

    @property
    def maximal(self) -> list[Nodes]:
        """The cliques of the graph that are in no other clique."""
        return cliques(self.graph)


def induced(graph: Undirected, order: Iterable[int]) -> Induced:
    """Take nodes away in an order, linking the neighbours of each before its removal."""
    near = [set(of) for of in graph]
    fill_in, gone = [], []
    for node in order:
        gone.append(frozenset(near[node] | {node}))
        fill_in.append([(i, j) for i, j in combinations(sorted(near[node]), 2) if j not in near[i]])
        _take_away(near, node)
    new = [pair for pairs in fill_in for pair in pairs]
    return Induced(undirected(len(graph), [*links(graph), *new]), fill_in, gone)


def _take_away(near: Sequence[set[int]], node: int) -> None:
    """Link all neighbours of a node, then cut it off."""
    for i, j in permutations(near[node], 2):
        near[i].add(j)
    for other in near[node]:
        near[other].discard(node)
    near[node].clear()


def min_fill(graph: Undirected, last: Nodes = frozenset()) -> list[int]:
    """A greedy order: the next node is the one that needs the fewest new links."""
    near = [set(of) for of in graph]
    left = set(range(len(graph))) - last
    order: list[int] = []
    while left:
        node = min(sorted(left), key=lambda i: _missing(near, near[i]))
        order.append(node)
        _take_away(near, node)
        left.discard(node)
    return order


def _missing(near: Sequence[set[int]], nodes: set[int]) -> int:
    """The number of pairs of these nodes that are not linked."""
    return sum(j not in near[i] for i, j in combinations(nodes, 2))


def treewidth(graph: Undirected) -> int:
    """The minimum width of all orders, by dynamic programming over sets of eliminated nodes."""
    M = len(graph)
    best: dict[Nodes, int] = {frozenset(): 0}
    for size in range(1, M + 1):
        for some in combinations(range(M), size):
            gone = frozenset(some)
            best[gone] = min(
                max(best[gone - {last}], _reached(graph, gone - {last}, last)) for last in gone
            )
    return best[frozenset(range(M))]


def _reached(graph: Undirected, gone: Nodes, node: int) -> int:
    """The number of remaining nodes that `node` is linked to after elimination of `gone`."""
    seen, ahead = {node}, {node}
    while ahead:
        near = {other for i in ahead for other in graph[i]} - seen
        seen |= near
        ahead = near & gone
    return len(seen - gone - {node})
