r"""Messages between the variables and the factors of a factor graph (PRML 8.4.4; MLAPP 20.2).

    mu_{f->x}(x) = sum over all other variables of f  f(x, ..) prod mu_{y->f}(y)           PRML 8.66
    mu_{x->f}(x) = prod over all other factors g of x  mu_{g->x}(x)                        PRML 8.69
    p(x) ~ prod over the factors of x  mu_{f->x}(x)                                        PRML 8.63

A node of the graph is a variable's name or the number of a factor. Sums and products are those of
a semiring. On a tree two passes are enough; on any graph messages may be sent repeatedly.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs.factors import SUM_PRODUCT, Factor, Semiring, sizes
from bythebook.models.types import Floats

Node = str | int
Link = tuple[Node, Node]  # from, to
Messages = dict[Link, Floats]


class FactorGraph(NamedTuple):
    """Factors, and the neighbours of each node."""

    factors: tuple[Factor, ...]
    states: dict[str, int]
    near: dict[Node, tuple[Node, ...]]

    @property
    def links(self) -> list[Link]:
        """Both directions of every link, in the order of the factors."""
        pairs = [(k, name) for k, f in enumerate(self.factors) for name in f.variables]
        return [link for k, name in pairs for link in ((k, name), (name, k))]

    @property
    def is_tree(self) -> bool:
        """Whether the graph is connected and has no loop."""
        return len(roots(self)) == 1 and not self.loops

    @property
    def loops(self) -> int:
        """The number of independent loops."""
        return len(self.links) // 2 - len(self.near) + len(roots(self))


def factor_graph(factors: Sequence[Factor]) -> FactorGraph:
    """The graph of some factors."""
    near: dict[Node, list[Node]] = {name: [] for name in sizes(factors)}
    for k, factor in enumerate(factors):
        near[k] = list(factor.variables)
        for name in factor.variables:
            near[name].append(k)
    return FactorGraph(tuple(factors), sizes(factors), {n: tuple(of) for n, of in near.items()})


def walk(graph: FactorGraph, root: Node) -> Iterator[tuple[Node, Node | None]]:
    """Every node that can be reached and the one it was reached from, nearest first."""
    ahead: list[tuple[Node, Node | None]] = [(root, None)]
    seen = {root}
    for node, before in ahead:
        yield node, before
        fresh = [near for near in graph.near[node] if near not in seen]
        seen.update(fresh)
        ahead += [(near, node) for near in fresh]


def roots(graph: FactorGraph) -> list[Node]:
    """The first node of each piece of the graph."""
    first: list[Node] = []
    seen: set[Node] = set()
    for node in graph.near:
        if node not in seen:
            first.append(node)
            seen.update(reached for reached, _ in walk(graph, node))
    return first


def send(
    graph: FactorGraph, messages: Mapping[Link, Floats], link: Link, ring: Semiring = SUM_PRODUCT
) -> Floats:
    """The message from one node to another, from the messages of all its other neighbours."""
    sender, receiver = link
    received = [(node, messages[node, sender]) for node in graph.near[sender] if node != receiver]
    if isinstance(sender, str):
        start = np.full(graph.states[sender], ring.one)
        return reduce(ring.times, (message for _, message in received), start)
    variables, table = graph.factors[sender]
    for name, message in received:
        table = ring.times(table, message.reshape([-1 if v == name else 1 for v in variables]))
    others = tuple(k for k, name in enumerate(variables) if name != receiver)
    return np.asarray(ring.plus.reduce(table, axis=others) if others else table)


def inward(graph: FactorGraph, root: Node, ring: Semiring = SUM_PRODUCT) -> Messages:
    """Messages from the leaves to the root, in the order in which they are sent; no loops."""
    if graph.loops:
        raise ValueError(f"messages to a root need a graph without loops; this has {graph.loops}")
    messages: Messages = {}
    for node, before in reversed(list(walk(graph, root))):
        if before is not None:
            messages[node, before] = send(graph, messages, (node, before), ring)
    return messages


def two_passes(graph: FactorGraph, root: Node, ring: Semiring = SUM_PRODUCT) -> Messages:
    """Messages from the leaves to the root, then back; in the order in which they were sent."""
    messages = inward(graph, root, ring)
    for node, before in walk(graph, root):
        if before is not None:
            messages[before, node] = send(graph, messages, (before, node), ring)
    return messages


def unit(graph: FactorGraph, ring: Semiring = SUM_PRODUCT) -> Messages:
    """A message of ones over every link in both directions (PRML 8.4.7)."""
    return {link: np.full(graph.states[_variable(link)], ring.one) for link in graph.links}


def _variable(link: Link) -> str:
    return next(node for node in link if isinstance(node, str))


def marginal(
    graph: FactorGraph, messages: Mapping[Link, Floats], name: str, ring: Semiring = SUM_PRODUCT
) -> Floats:
    """The product of all messages to a variable, not normalised (8.63)."""
    received = (messages[node, name] for node in graph.near[name])
    return reduce(ring.times, received, np.full(graph.states[name], ring.one))


class Sent(NamedTuple):
    """Messages sent one by one, how often each of them, and how many were pending at the end."""

    messages: Messages
    times: dict[Link, int]
    pending: int


def one_by_one(graph: FactorGraph, rng: Generator, most: int, *, waiting: bool) -> Sent:
    """Pending messages in a random order, at most `most`, each summing to one (PRML 8.4.7).

    A message is pending if its sender has received a message on another link since it last sent it.
    `waiting` nodes send only after messages on all their other links, so leaves begin; otherwise
    all links start with messages of ones.
    """
    messages = {} if waiting else unit(graph)
    times = dict.fromkeys(graph.links, 0)
    fresh = {(a, b) for a, b in graph.links if not waiting or graph.near[a] == (b,)}
    while fresh and sum(times.values()) < most:
        ready = [
            link for link in graph.links if link in fresh and _all_received(graph, messages, *link)
        ]
        link = ready[int(rng.integers(len(ready)))]
        message = send(graph, messages, link)
        messages[link] = message / message.sum()
        times[link] += 1
        fresh.discard(link)
        fresh |= {(link[1], on) for on in graph.near[link[1]] if on != link[0]}
    return Sent(messages, times, len(fresh))


def _all_received(
    graph: FactorGraph, messages: Mapping[Link, Floats], node: Node, but: Node
) -> bool:
    """Whether a node has received messages from all its neighbours except one."""
    return all((near, node) in messages for near in graph.near[node] if near != but)
