"""Equations of MLAPP 19.2, independences of undirected graphs and of moral graphs."""

from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._graphs import random_dag, random_graph
from bythebook.models.graphs.independence import undirected_joint
from bythebook.models.graphs.structure import (
    closure,
    d_separated_by_paths,
    moral,
    separated,
    statements,
)
from bythebook.models.types import Floats


def _conditional(joint: Floats, of: set[int], given: set[int]) -> Floats:
    """p(of | given) of a joint table; the axes of other nodes have one place."""
    p = joint.sum(tuple(set(range(joint.ndim)) - of - given), keepdims=True)
    return np.asarray(p / p.sum(tuple(of), keepdims=True))


@equation(
    "section 19.2.1, Markov blanket",
    section="19.2.1",
    latex=r"p(x_t|\mathbf{x}_{-t}) = p(x_t|\mathbf{x}_{\text{nbr}(t)})",
)
def neighbours_are_the_blanket(rng: Generator) -> Sides:
    """Given its neighbours, a node of an undirected graph is independent of all other nodes."""
    M = int(rng.integers(4, 6))
    graph, t = random_graph(rng, M), int(rng.integers(M))
    joint = undirected_joint(graph, int(rng.integers(2, 4)), rng)
    truth = _conditional(joint, {t}, set(range(M)) - {t})
    return Sides(
        truth=truth,
        printed=np.broadcast_to(_conditional(joint, {t}, set(graph[t])), truth.shape),
    )


@equation(
    "19.2",
    section="19.2.1",
    latex=r"s \perp t | \mathcal{V} \setminus \{s, t\} \iff G_{st} = 0",
)
def pairwise_markov_property(rng: Generator) -> Sides:
    """Two nodes are independent given all others if and only if there is no link between them."""
    M = int(rng.integers(4, 6))
    graph = random_graph(rng, M)
    joint = undirected_joint(graph, int(rng.integers(2, 4)), rng)
    truth, printed = [1], [1]
    for s, t in combinations(range(M), 2):
        rest = set(range(M)) - {s, t}
        apart = _conditional(joint, {s}, rest) * _conditional(joint, {t}, rest)
        truth.append(int(np.abs(_conditional(joint, {s, t}, rest) - apart).max() <= 1e-12))
        printed.append(int(t not in graph[s]))
    return Sides(truth=truth, printed=printed)


@equation(
    "section 19.2.2, ancestral graph",
    section="19.2.2",
    latex=r"A \perp_G B | C \iff A \text{ and } B \text{ are separated by } C \text{ in the moral"
    r" graph of the ancestors of } A \cup B \cup C",
)
def moral_ancestral_graph(rng: Generator) -> Sides:
    """Separation in the moral graph of the ancestors finds the independences of directed graphs.

    The reference is the definition of d-separation, path by path.
    """
    M = int(rng.integers(4, 6))
    graph = random_dag(rng, M, rng.uniform(0.3, 0.7))
    truth, printed = [1], [1]
    for s in statements(M):
        a, b = frozenset([s.a]), frozenset([s.b])
        kept = closure(graph, a | b | s.given)
        part = tuple(graph[i] if i in kept else frozenset[int]() for i in range(M))
        truth.append(int(d_separated_by_paths(graph, a, b, s.given)))
        printed.append(int(separated(moral(part), a, b, s.given)))
    return Sides(truth=truth, printed=printed)
