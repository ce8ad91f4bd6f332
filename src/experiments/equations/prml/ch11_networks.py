"""Equations of PRML 11.1.4, samples of a directed graph with observed nodes."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._graphs import random_dag, random_tables
from bythebook.models.graphs.structure import order


@equation(
    "11.24",
    section="11.1.4",
    latex=r"r(\mathbf{z}) = \prod_{\mathbf{z}_i \in \mathbf{e}} p(\mathbf{z}_i|\text{pa}_i)",
)
def likelihood_weight(rng: Generator) -> Sides:
    """The weight of a sample: its joint probability over the probability of drawing it.

    The probability of drawing the hidden nodes follows from the tables in the order of the graph.
    """
    M = int(rng.integers(3, 6))
    graph = random_dag(rng, M)
    tables, joint = random_tables(rng, graph)
    z = [int(rng.integers(side)) for side in joint.shape]
    chance = [table.table[tuple(z[int(name)] for name in table.variables)] for table in tables]
    observed = rng.random(M) < 0.5
    drawn = 1.0
    for node in order(graph) or ():
        parents = sorted(graph[node])
        family = joint.sum(tuple(set(range(M)) - {node, *parents}), keepdims=True)
        share = family / family.sum(node, keepdims=True)
        at = tuple(z[k] if k in {node, *parents} else 0 for k in range(M))
        drawn *= 1.0 if observed[node] else float(share[at])
    printed = np.prod([p for p, seen in zip(chance, observed, strict=True) if seen])
    return Sides(truth=joint[tuple(z)] / drawn, printed=printed)
