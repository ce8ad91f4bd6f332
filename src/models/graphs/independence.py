"""Distance of a joint table from an independence, and dependences of a node's conditional."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.structure import Dag, Nodes, Undirected, cliques
from bythebook.models.types import Floats


def dependence(joint: Floats, one: Nodes, other: Nodes, given: Nodes) -> float:
    """The largest difference of p(a, b | c) and p(a | c) p(b | c); axes of `joint` are nodes.

    Settings c of probability zero are ignored.
    """
    rest = tuple(set(range(joint.ndim)) - one - other - given)
    p = joint.sum(rest, keepdims=True)
    condition = p.sum(tuple(one | other), keepdims=True)
    p = np.divide(p, condition, out=np.zeros_like(p), where=condition > 0)
    apart = p.sum(tuple(other), keepdims=True) * p.sum(tuple(one), keepdims=True)
    return float(np.abs(p - apart).max())


def spread_of_conditional(joint: Floats, node: int, without: Nodes) -> Floats:
    """Change of p(node | all others) with the variables of `without`, at each state of others."""
    return np.asarray(np.ptp(joint / joint.sum(node, keepdims=True), axis=tuple(without)))


def directed_tables(graph: Dag, K: int, rng: Generator) -> list[Factor]:
    """A random conditional table for each node given its parents; nodes are named 0, 1, ..."""
    factors = []
    for node, parents in enumerate(graph):
        table = rng.dirichlet(np.ones(K), [K] * len(parents))
        factors.append(Factor((*map(str, sorted(parents)), str(node)), table))
    return factors


def joint_of(factors: Sequence[Factor], M: int) -> Floats:
    """The product of tables over nodes 0, ..., M - 1, one axis per node."""
    return np.asarray(keep(product(factors), [str(node) for node in range(M)]).table)


def directed_joint(graph: Dag, K: int, rng: Generator) -> Floats:
    """A joint table, one axis per node: a random conditional table for each given its parents."""
    return joint_of(directed_tables(graph, K, rng), len(graph))


def clique_of(graph: Undirected, nodes: Nodes) -> Nodes | None:
    """The first maximal clique that contains some nodes, or none."""
    return next((clique for clique in cliques(graph) if nodes <= clique), None)


def clique_potentials(graph: Undirected, factors: Sequence[Factor], K: int) -> list[Factor]:
    """A potential of ones on each maximal clique, and each factor multiplied into one (PRML 8.3.4).

    Every factor has to be inside a clique.
    """
    found = {c: [_ones(c, K)] for c in cliques(graph)}
    for factor in factors:
        home = clique_of(graph, frozenset(map(int, factor.variables)))
        if home is None:
            raise ValueError(f"no clique contains {factor.variables}")
        found[home].append(factor)
    return [product(inside) for inside in found.values()]


def _ones(clique: Nodes, K: int) -> Factor:
    return Factor(tuple(map(str, sorted(clique))), np.ones([K] * len(clique)))


def undirected_joint(graph: Undirected, K: int, rng: Generator) -> Floats:
    """The same for an undirected graph: a random positive table on each maximal clique."""
    factors = []
    for clique in cliques(graph):
        table = rng.uniform(0.1, 1.0, [K] * len(clique))
        factors.append(Factor(tuple(map(str, sorted(clique))), table))
    joint = joint_of(factors, len(graph))
    return np.asarray(joint / joint.sum())
