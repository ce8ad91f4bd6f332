r"""Samples of directed networks, with and without observed nodes (PRML 8.1.2, 11.1.4).

    ancestral    z_i ~ p(z_i | pa_i), parents first                                           11.4
    logic        the same; a sample that contradicts an observed node is thrown away
    uniform      hidden nodes uniformly, weight p(z)
    weighted     hidden nodes as in ancestral sampling, weight prod_{i in e} p(z_i | pa_i)     11.24

A network is a list of tables, one per node: `Factor((*parents, node), table)`. Samples are rows,
with a column for each node in the order of the tables.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import chdtrc

from bythebook.models.graphs.factors import Factor
from bythebook.models.types import Bools, Floats, Ints

Evidence = Mapping[str, int]


def nodes(network: Sequence[Factor]) -> list[str]:
    """The node of each table, its last variable."""
    return [table.variables[-1] for table in network]


def _chances(table: Factor, names: Sequence[str], z: Ints) -> Floats:
    """p(node | parents) of every state of the node, for each sample."""
    above = tuple(z[:, names.index(parent)] for parent in table.variables[:-1])
    return np.broadcast_to(table.table[above], (len(z), table.table.shape[-1]))


def _drawn(p: Floats, rng: Generator) -> Ints:
    """A state for each row of probabilities."""
    return np.asarray((rng.random((len(p), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(1))


def ancestral(network: Sequence[Factor], count: int, rng: Generator) -> Ints:
    """Samples of the joint distribution."""
    return weighted(network, {}, count, rng).z


class Weighted(NamedTuple):
    """Samples and their weights, unnormalised."""

    z: Ints
    r: Floats


def weighted(network: Sequence[Factor], evidence: Evidence, count: int, rng: Generator) -> Weighted:
    """Likelihood weighting: observed nodes are set; weights are their conditional probabilities."""
    names = nodes(network)
    z, r = np.zeros((count, len(names)), dtype=int), np.ones(count)
    for k, table in enumerate(network):
        p = _chances(table, names, z)
        if names[k] in evidence:
            z[:, k] = evidence[names[k]]
            r = r * p[:, evidence[names[k]]]  # 11.24
        else:
            z[:, k] = _drawn(p, rng)
    return Weighted(z, r)


def uniform(network: Sequence[Factor], evidence: Evidence, count: int, rng: Generator) -> Weighted:
    """Hidden nodes drawn uniformly, weighted by the joint probability over that of the draw."""
    names = nodes(network)
    z, r = np.zeros((count, len(names)), dtype=int), np.ones(count)
    for k, table in enumerate(network):
        K = table.table.shape[-1]
        hidden = names[k] not in evidence
        z[:, k] = rng.integers(K, size=count) if hidden else evidence[names[k]]
        r = r * K if hidden else r
    return Weighted(z, r * probability(network, z))


def probability(network: Sequence[Factor], z: Ints) -> Floats:
    """p(z) of each sample (11.4)."""
    names, p = nodes(network), np.ones(len(z))
    for k, table in enumerate(network):
        p = p * _chances(table, names, z)[np.arange(len(z)), z[:, k]]
    return p


class Accepted(NamedTuple):
    """Ancestral samples: which agree with all observed nodes, and the nodes drawn until then."""

    kept: Bools
    drawn: Ints  # up to the first contradiction


def logic(network: Sequence[Factor], evidence: Evidence, z: Ints) -> Accepted:
    """Logic sampling, from samples of the joint distribution."""
    names = nodes(network)
    wrong = np.zeros(z.shape, dtype=bool)
    for name, state in evidence.items():
        wrong[:, names.index(name)] = z[:, names.index(name)] != state
    kept = np.asarray(~wrong.any(1))
    return Accepted(kept, np.where(kept, z.shape[1], wrong.argmax(1) + 1))


def counted(z: Ints, shape: tuple[int, ...]) -> Ints:
    """The number of samples with each setting, a table with an axis for each column."""
    at = np.ravel_multi_index(tuple(z.T), shape)
    return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)


def p_value(counts: Ints, p: Floats) -> float:
    """P-value of a chi-squared test of counts against probabilities; rare cells are merged.

    The value is one if fewer than two cells remain.
    """
    expected = p.ravel() * counts.sum()
    rare = expected < 5
    seen = np.append(counts.ravel()[~rare], counts.ravel()[rare].sum()).astype(float)
    right = np.append(expected[~rare], expected[rare].sum())
    if right[-1] < 5 and len(right) > 1:  # still too rare: merge
        least = int(np.argmin(right[:-1]))
        seen[least], right[least] = seen[least] + seen[-1], right[least] + right[-1]
        seen, right = seen[:-1], right[:-1]
    if len(right) == 1:
        return 1.0
    return float(chdtrc(len(right) - 1, ((seen - right) ** 2 / right).sum()))
