r"""Belief propagation in singly connected directed graphs by Pearl's algorithm (Ghahramani 8.2).

    lambda(x) = P(e- | x) = prod over children y of lambda_y(x)                                34
    pi(x) = P(x | e+) = sum over parents u of P(x | u) prod of pi_x(u_i)                       35
    pi_y(x) ~ pi(x) prod over other children of lambda_k(x)                                    36
    lambda_x(u_i) = sum over x of lambda(x) sum over other u of P(x | u) prod of pi_x(u_k)     37

A node's own observation is part of its lambda. (37) is printed as an equality; it holds up to a
constant.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.factors import Factor
from bythebook.models.types import Floats

Pair = tuple[str, str]  # sender and receiver


class Messages(NamedTuple):
    """All messages; `prior` go from parents to children and sum to one, `likelihood` come back."""

    prior: dict[Pair, Floats]  # pi_y(x)
    likelihood: dict[Pair, Floats]  # lambda_x(u)


class Network:
    """Conditional tables, the child on the last axis of each, and the observed states."""

    def __init__(self, tables: Sequence[Factor], given: Mapping[str, int]) -> None:
        self.tables = {factor.variables[-1]: factor for factor in tables}
        self.seen = {
            name: np.arange(factor.table.shape[-1]) == given[name]
            if name in given
            else np.ones(factor.table.shape[-1])
            for name, factor in self.tables.items()
        }

    def parents(self, name: str) -> tuple[str, ...]:
        return self.tables[name].variables[:-1]

    def children(self, name: str) -> list[str]:
        return [child for child in self.tables if name in self.parents(child)]

    @property
    def links(self) -> list[Pair]:
        return [(parent, name) for name in self.tables for parent in self.parents(name)]

    def likelihood(self, messages: Messages, name: str, but: str = "") -> Floats:
        """lambda(x) (34), with all children or without one."""
        received = [messages.likelihood[y, name] for y in self.children(name) if y != but]
        return np.asarray(np.prod([self.seen[name], *received], axis=0))

    def prior(self, messages: Messages, name: str) -> Floats:
        """pi(x) (35)."""
        return np.asarray(self._weighted(messages, name, self.parents(name)).sum(self._axes(name)))

    def belief(self, messages: Messages, name: str) -> Floats:
        """P(x | e), normalised (33)."""
        product = self.likelihood(messages, name) * self.prior(messages, name)
        return np.asarray(product / product.sum())

    def _axes(self, name: str, but: str = "") -> tuple[int, ...]:
        return tuple(k for k, parent in enumerate(self.parents(name)) if parent != but)

    def _weighted(self, messages: Messages, name: str, by: Sequence[str]) -> Floats:
        """P(x | u) times the messages of some parents."""
        variables, table = self.tables[name]
        for parent in by:
            shape = [-1 if v == parent else 1 for v in variables]
            table = table * messages.prior[parent, name].reshape(shape)
        return np.asarray(table)

    def to_child(self, messages: Messages, name: str, child: str, *, echo: bool = False) -> Floats:
        """pi_y(x) (36), normalised; with `echo` it includes the child's own message."""
        product = self.prior(messages, name) * self.likelihood(
            messages, name, "" if echo else child
        )
        return np.asarray(product / product.sum())

    def to_parent(
        self, messages: Messages, name: str, parent: str, *, echo: bool = False
    ) -> Floats:
        """lambda_x(u) by the right side of (37).

        With `echo` the result includes the parent's own message.
        """
        by = [u for u in self.parents(name) if echo or u != parent]
        table = self._weighted(messages, name, by) * self.likelihood(messages, name)
        return np.asarray(table.sum((*self._axes(name, parent), table.ndim - 1)))


def propagate(network: Network) -> Messages:
    """All messages, each after those that it depends on; the graph is singly connected."""
    messages = Messages({}, {})
    waiting = [(a, b, down) for a, b in network.links for down in (True, False)]
    while waiting:
        left = [one for one in waiting if not _sent(network, messages, *one)]
        if len(left) == len(waiting):
            raise ValueError("lambda and pi messages need a singly connected graph")
        waiting = left
    return messages


def _sent(network: Network, messages: Messages, parent: str, child: str, down: bool) -> bool:
    """Send a message if its sender has received all others; returns whether it was sent."""
    sender, receiver = (parent, child) if down else (child, parent)
    ready = all((u, sender) in messages.prior for u in network.parents(sender) if u != receiver)
    ready &= all(
        (y, sender) in messages.likelihood for y in network.children(sender) if y != receiver
    )
    if ready and down:
        messages.prior[sender, receiver] = network.to_child(messages, sender, receiver)
    elif ready:
        messages.likelihood[sender, receiver] = network.to_parent(messages, sender, receiver)
    return ready


def reverberate(network: Network, rounds: int) -> Messages:
    """Rounds of simultaneous messages that include the receiver's own message."""
    size = {name: len(seen) for name, seen in network.seen.items()}
    messages = Messages(
        {(a, b): np.ones(size[a]) for a, b in network.links},
        {(b, a): np.ones(size[a]) for a, b in network.links},
    )
    for _ in range(rounds):
        up = {(b, a): network.to_parent(messages, b, a, echo=True) for a, b in network.links}
        messages = Messages(
            {(a, b): network.to_child(messages, a, b, echo=True) for a, b in network.links},
            {pair: message / message.sum() for pair, message in up.items()},
        )
    return messages
