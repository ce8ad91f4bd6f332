r"""Belief propagation in singly connected directed graphs, as Pearl has it (Ghahramani 8.2).

    lambda(x) = P(e- | x) = prod over children y of lambda_y(x)                                34
    pi(x) = P(x | e+) = sum over parents u of P(x | u) prod of pi_x(u_i)                       35
    pi_y(x) ~ pi(x) prod over other children of lambda_k(x)                                    36
    lambda_x(u_i) = sum over x of lambda(x) sum over other u of P(x | u) prod of pi_x(u_k)     37

A node's own observation is part of its lambda. (37) is printed as an equality; it is one but for a
constant.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from models.graphs.factors import Factor
from models.types import Floats

Pair = tuple[str, str]  # who tells whom


class Told(NamedTuple):
    """All messages; `prior` go from parents to children and sum to one, `likelihood` come back."""

    prior: dict[Pair, Floats]  # pi_y(x)
    likelihood: dict[Pair, Floats]  # lambda_x(u)


class Network:
    """Conditional tables, the child on the last axis of each; and what was observed."""

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

    def likelihood(self, told: Told, name: str, but: str = "") -> Floats:
        """lambda(x) (34), or without what one child said."""
        said = [told.likelihood[y, name] for y in self.children(name) if y != but]
        return np.asarray(np.prod([self.seen[name], *said], axis=0))

    def prior(self, told: Told, name: str) -> Floats:
        """pi(x) (35)."""
        return np.asarray(self._weighed(told, name, self.parents(name)).sum(self._axes(name)))

    def belief(self, told: Told, name: str) -> Floats:
        """P(x | e), normalised (33)."""
        product = self.likelihood(told, name) * self.prior(told, name)
        return np.asarray(product / product.sum())

    def _axes(self, name: str, but: str = "") -> tuple[int, ...]:
        return tuple(k for k, parent in enumerate(self.parents(name)) if parent != but)

    def _weighed(self, told: Told, name: str, by: Sequence[str]) -> Floats:
        """P(x | u) times the messages of some parents."""
        variables, table = self.tables[name]
        for parent in by:
            shape = [-1 if v == parent else 1 for v in variables]
            table = table * told.prior[parent, name].reshape(shape)
        return np.asarray(table)

    def to_child(self, told: Told, name: str, child: str, *, echo: bool = False) -> Floats:
        """pi_y(x) (36), normalised; with `echo` the child hears its own words again."""
        product = self.prior(told, name) * self.likelihood(told, name, "" if echo else child)
        return np.asarray(product / product.sum())

    def to_parent(
        self,
        told: Told,
        name: str,
        parent: str,
        *,
        echo: bool = False,
        likelihood: Floats | None = None,
    ) -> Floats:
        """lambda_x(u) by the right side of (37), from lambda(x) or a given P(e- | x).

        With `echo` the parent hears its own words again.
        """
        by = [u for u in self.parents(name) if echo or u != parent]
        below = self.likelihood(told, name) if likelihood is None else likelihood
        table = self._weighed(told, name, by) * below
        return np.asarray(table.sum((*self._axes(name, parent), table.ndim - 1)))


def propagate(network: Network) -> Told:
    """Every message when all that it hangs on is there; the graph is singly connected."""
    told = Told({}, {})
    waiting = [(a, b, down) for a, b in network.links for down in (True, False)]
    while waiting:
        waiting = [one for one in waiting if not _sent(network, told, *one)]
    return told


def _sent(network: Network, told: Told, parent: str, child: str, down: bool) -> bool:
    """Send a message if its sender has heard from all others; whether it did."""
    sender, receiver = (parent, child) if down else (child, parent)
    heard = all((u, sender) in told.prior for u in network.parents(sender) if u != receiver)
    heard &= all((y, sender) in told.likelihood for y in network.children(sender) if y != receiver)
    if heard and down:
        told.prior[sender, receiver] = network.to_child(told, sender, receiver)
    elif heard:
        told.likelihood[sender, receiver] = network.to_parent(told, sender, receiver)
    return heard


def reverberate(network: Network, rounds: int) -> Told:
    """All messages at once, so many times, in which everybody is told what they said, too."""
    size = {name: len(seen) for name, seen in network.seen.items()}
    told = Told(
        {(a, b): np.ones(size[a]) for a, b in network.links},
        {(b, a): np.ones(size[a]) for a, b in network.links},
    )
    for _ in range(rounds):
        up = {(b, a): network.to_parent(told, b, a, echo=True) for a, b in network.links}
        told = Told(
            {(a, b): network.to_child(told, a, b, echo=True) for a, b in network.links},
            {pair: message / message.sum() for pair, message in up.items()},
        )
    return told
