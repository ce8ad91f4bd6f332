r"""Fields with potentials on nodes and on links, and messages between nodes (MLAPP 20.2, 22.2).

    p(x) = 1/Z prod_s psi_s(x_s) prod_(s,t) psi_st(x_s, x_t)                           MLAPP 20.1
    bel_s(x_s) ~ psi_s(x_s) prod_t m_{t->s}(x_s)                                       MLAPP 20.10
    m_{s->t}(x_t) = sum_{x_s} psi_s(x_s) psi_st(x_s, x_t) prod_{u != t} m_{u->s}(x_s)  MLAPP 20.11

All messages of a round are computed simultaneously. An array of messages has a row for each link
from its first node to its second, then one for each in the other direction, and any number of axes
before it.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from bythebook.models.graphs.factors import Factor
from bythebook.models.types import Floats, Ints


class Field(NamedTuple):
    """Potentials; links[e] are the two nodes of a link, tables[..., e, :, :] in their order."""

    nodes: Floats  # (..., N, K)
    links: Ints  # (E, 2)
    tables: Floats  # (..., E, K, K)

    @property
    def senders(self) -> Ints:
        return np.concatenate([self.links[:, 0], self.links[:, 1]])

    @property
    def receivers(self) -> Ints:
        return np.concatenate([self.links[:, 1], self.links[:, 0]])

    def each(self) -> "list[Field]":
        """The fields of a batch, one by one."""
        pairs = zip(self.nodes, self.tables, strict=True)
        return [Field(nodes, self.links, tables) for nodes, tables in pairs]

    def factors(self) -> list[Factor]:
        """A single field as a list of tables; nodes are called x0, x1, ..."""
        named = [Factor((f"x{s}",), psi) for s, psi in enumerate(self.nodes)]
        for (s, t), table in zip(self.links, self.tables, strict=True):
            named.append(Factor((f"x{s}", f"x{t}"), table))
        return named


def ones(field: Field) -> Floats:
    """The initial messages of all nodes to all neighbours: ones."""
    rows = 2 * len(field.links)
    batch = np.broadcast_shapes(field.nodes.shape[:-2], field.tables.shape[:-3])
    return np.ones((*batch, rows, field.nodes.shape[-1]))


def beliefs(field: Field, messages: Floats) -> Floats:
    """The belief of each node, normalised (20.10)."""
    product = np.exp(_log_product(field, messages))
    return np.asarray(product / _over_states(np.add, product))


def _over_states(of: np.ufunc, table: Floats) -> Floats:
    """A sum or maximum over the last axis, which is short: faster state by state."""
    return np.asarray(reduce(of, np.moveaxis(table, -1, 0)))[..., None]


def _log_product(field: Field, messages: Floats) -> Floats:
    """Ln psi_s + sum of ln m_{t->s}, less the largest of each node."""
    total = np.broadcast_to(np.log(field.nodes), (*messages.shape[:-2], *field.nodes.shape[-2:]))
    total = np.moveaxis(total, -2, 0).copy()  # nodes first, to add at them
    np.add.at(total, field.receivers, np.moveaxis(np.log(messages), -2, 0))
    total = np.moveaxis(total, 0, -2)
    return np.asarray(total - _over_states(np.maximum, total))


def pass_on(field: Field, messages: Floats) -> Floats:
    """All messages from those of the last round, each summing to one (20.11)."""
    E = len(field.links)
    back = np.concatenate([np.arange(E, 2 * E), np.arange(E)])  # the same links, the other way
    rest = _log_product(field, messages)[..., field.senders, :] - np.log(messages[..., back, :])
    rest = np.exp(rest - _over_states(np.maximum, rest))
    states = range(rest.shape[-1])
    there = sum(rest[..., :E, k, None] * field.tables[..., k, :] for k in states)
    back_again = sum(rest[..., E:, k, None] * field.tables[..., :, k] for k in states)
    new = np.concatenate([there, back_again], axis=-2)
    return np.asarray(new / _over_states(np.add, new))


def rounds(field: Field, damping: float = 0.0) -> Iterator[Floats]:
    """The messages before and after each round; `damping` is the share of the old ones."""
    messages = ones(field)
    while True:
        yield messages
        messages = damping * messages + (1 - damping) * pass_on(field, messages)


def node_by_node(field: Field, order: Ints) -> Floats:
    """The messages after the nodes of `order` have sent theirs one by one."""
    messages, senders = ones(field), field.senders
    for node in order:
        own = senders == node
        messages[..., own, :] = pass_on(field, messages)[..., own, :]
    return messages


def exact(field: Field) -> Floats:
    """The marginals of all nodes, by visiting every configuration of them."""
    N, K = field.nodes.shape[-2:]
    states = np.indices([K] * N).reshape(N, -1)  # a column for each configuration
    log_p = np.log(field.nodes)[..., np.arange(N)[:, None], states].sum(-2)
    s, t = field.links.T
    pairs = np.log(field.tables)[..., np.arange(len(s))[:, None], states[s], states[t]]
    log_p = log_p + pairs.sum(-2)
    p = np.exp(log_p - log_p.max(-1, keepdims=True))
    found = np.stack([(p[..., None, :] * (states == k)).sum(-1) for k in range(K)], -1)
    return np.asarray(found / found.sum(-1, keepdims=True))


def length(links: Ints, N: int) -> int:
    """The diameter of a connected graph: the longest of the shortest paths, in links."""
    near = csr_array((np.ones(len(links)), links.T), (N, N))
    return int(shortest_path(near, directed=False, unweighted=True).max())


SHAPES = ("tree", "ring", "grid", "complete")


def shaped(shape: str, N: int, rng: np.random.Generator) -> Ints:
    """The links of a graph of N nodes; a grid is square, a tree is drawn."""
    if shape == "tree":
        return random_tree(N, rng)
    if shape == "grid":
        return grid(*[round(N**0.5)] * 2)
    if shape == "ring":
        return np.array([(k, (k + 1) % N) for k in range(N)])
    return np.array(list(combinations(range(N), 2)))


def grid(rows: int, columns: int) -> Ints:
    """The links of a lattice, nodes counted row by row."""
    number = np.arange(rows * columns).reshape(rows, columns)
    across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    down = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    return np.concatenate([across, down])


def random_tree(N: int, rng: np.random.Generator) -> Ints:
    """The links of a tree in which each node is linked to one earlier node."""
    return np.array([(rng.integers(k), k) for k in range(1, N)], dtype=int).reshape(-1, 2)
