r"""Structure learning: scores of directed graphs, and searches among them (Ghahramani 9.2).

    P(D | m) = prod_i prod_j  G(a_ij) / G(a_ij + n_ij)  prod_k G(a_ijk + n_ijk) / G(a_ijk)     48
    P(m | D) ~ P(D | m) P(m)                                                                   47

n_ijk counts data in which node i has state k and its parents are in their j-th setting; a_ijk are
the parameters of its Dirichlet prior, one each or such that all of a node sum to one (BDeu). Data
are counts of whole configurations, one axis per node after a batch axis. Sets of parents are
numbered by bits. A search changes one link at a time.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, softmax

from bythebook.models.graphs.structure import Dag
from bythebook.models.types import Bools, Floats, Ints

PRIORS = ("uniform", "one observation")


def pseudo_counts(prior: str, K: int, rows: int) -> float:
    """The Dirichlet parameter of each entry of a table with a number of rows of K."""
    return 1.0 if prior == "uniform" else 1 / (K * rows)


def family_scores(counts: Floats, prior: str) -> Floats:
    """Log P(data of a node | its parents) for each node and set of parents, (batch, M, 2^M).

    Minus infinity where a node would be its own parent.
    """
    B, M = len(counts), counts.ndim - 1
    found = np.full((B, M, 2**M), -np.inf)
    for node, parents in np.ndindex(M, 2**M):
        if not parents >> node & 1:
            n = _table(counts, node, parents).reshape(B, -1, counts.shape[1])
            a = pseudo_counts(prior, n.shape[2], n.shape[1])
            rows = gammaln(a * n.shape[2]) - gammaln(a * n.shape[2] + n.sum(2))
            cells = (gammaln(a + n) - gammaln(a)).sum(2)
            found[:, node, parents] = (rows + cells).sum(1)
    return found


def family_predictions(counts: Floats, prior: str) -> Floats:
    """Log P(node | its parents, data) in every configuration, (batch, M, 2^M, configurations)."""
    B, M = len(counts), counts.ndim - 1
    found = np.zeros((B, M, 2**M, counts[0].size))
    for node, parents in np.ndindex(M, 2**M):
        if not parents >> node & 1:
            n = _table(counts, node, parents, keep=True)
            a = pseudo_counts(prior, counts.shape[1], n[0].size // counts.shape[1])
            p = (n + a) / (n + a).sum(node + 1, keepdims=True)
            found[:, node, parents] = np.broadcast_to(np.log(p), counts.shape).reshape(B, -1)
    return found


def _table(counts: Floats, node: int, parents: int, keep: bool = False) -> Floats:
    """Counts of a node and its parents; the node last, or all axes in their places."""
    M = counts.ndim - 1
    away = tuple(i + 1 for i in range(M) if i != node and not parents >> i & 1)
    n = counts.sum(away, keepdims=True)
    return n if keep else np.moveaxis(n, node + 1, -1)


def masks(graphs: Sequence[Dag]) -> Ints:
    """The sets of parents of every node as numbers, (graph, M)."""
    return np.array([[sum(1 << p for p in parents) for parents in graph] for graph in graphs])


def of_structures(families: Floats, sets: Ints) -> Floats:
    """Sums over the nodes of each structure of the values of families, (batch, graph, ...)."""
    M = sets.shape[1]
    return np.asarray(sum(families[:, node, sets[:, node]] for node in range(M)))


def posterior(scores: Floats) -> Floats:
    """P(m | D) over the last axis, all structures equally probable beforehand."""
    return np.asarray(softmax(scores, axis=-1))


def neighbours(graphs: Sequence[Dag]) -> Bools:
    """The structures that differ in one link: removed, added or reversed."""
    M = len(graphs[0])
    ways = np.array([[[j in g[i] for j in range(M)] for i in range(M)] for g in graphs])
    pairs = ways + 2 * ways.transpose(0, 2, 1)
    upper = pairs[:, *np.triu_indices(M, 1)]
    return np.asarray((upper[:, None] != upper).sum(-1) == 1)


def climbed(scores: Floats, near: Bools, start: int) -> int:
    """The end of a greedy search that moves to the best neighbour while the score increases."""
    at = start
    while True:
        best = int(np.argmax(np.where(near[at], scores, -np.inf)))
        if scores[best] <= scores[at]:
            return at
        at = best


def sampled(scores: Floats, near: Bools, start: int, steps: int, rng: Generator) -> Ints:
    """Visits of a Metropolis-Hastings chain to each structure, for a batch of scores.

    A neighbour is proposed at random; the acceptance corrects for different numbers of neighbours.
    """
    B, G = scores.shape
    degree = near.sum(1)
    listed = np.argsort(~near, axis=1, kind="stable")  # neighbours first
    log_degree, batch = np.log(degree), np.arange(B)
    at, visits = np.full(B, start), np.zeros((B, G), dtype=int)
    for _ in range(steps):
        to = listed[at, (rng.random(B) * degree[at]).astype(int)]
        gain = scores[batch, to] - scores[batch, at] + log_degree[at] - log_degree[to]
        at = np.where(np.log(rng.random(B)) < gain, to, at)
        visits[batch, at] += 1
    return visits
