r"""The most probable configurations of a tree, and samples from it (PRML 8.4.5; MLAPP 20.2.4).

    mu_{f->x}(x) = max over all other variables of f  [ln f + sum of mu_{y->f}(y)]        8.93
    x^max of the root maximises the sum of the messages that it received                  8.98

From the root on, each factor determines the values of its other variables given that of the
variable above: the values that gave the maximum or, for samples, one drawn from their table.
"""

from itertools import product as combinations_of

import numpy as np
from numpy.random import Generator

from bythebook.models.graphs.factors import MAX_SUM, SUM_PRODUCT, Factor, Semiring, keep, product
from bythebook.models.graphs.propagation import FactorGraph, Messages, inward, marginal, walk
from bythebook.models.types import AnyArray, Floats, Ints

EQUAL = 1e-9  # logarithms this close are of equal numbers


def tied(scores: AnyArray) -> list[tuple[int, ...]]:
    """All places of the largest entry."""
    return [tuple(map(int, at)) for at in np.argwhere(scores >= np.max(scores) - EQUAL)]


def traced(graph: FactorGraph, root: str) -> list[dict[str, int]]:
    """All configurations that back-tracking can end at, one for each choice among ties (8.102).

    Factors are logarithms.
    """
    messages = inward(graph, root, MAX_SUM)
    found = [{root: state} for (state,) in tied(marginal(graph, messages, root, MAX_SUM))]
    for above, below, k in _steps(graph, root):
        table = _given_above(graph, messages, k, (above, *below), MAX_SUM)
        found = [
            {**one, **dict(zip(below, at, strict=True))}
            for one in found
            for at in tied(table[one[above]])
        ]
    return found


def predecessors(graph: FactorGraph, root: str) -> dict[str, Ints]:
    """Phi of a chain: the best state of a variable for each state of its successor (8.101)."""
    messages = inward(graph, root, MAX_SUM)
    return {
        before: np.argmax(_given_above(graph, messages, k, (above, before), MAX_SUM), axis=1)
        for above, (before,), k in _steps(graph, root)
    }


def sampled(graph: FactorGraph, root: str, count: int, rng: Generator) -> dict[str, Ints]:
    """Independent draws of all variables: filtered towards the root, sampled away from it."""
    messages = inward(graph, root)
    top = marginal(graph, messages, root)
    drawn = {root: _draw(np.broadcast_to(top, (count, len(top))), rng)}
    for above, below, k in _steps(graph, root):
        table = _given_above(graph, messages, k, (above, *below), SUM_PRODUCT)
        flat = _draw(table.reshape(len(table), -1)[drawn[above]], rng)
        drawn |= dict(zip(below, np.unravel_index(flat, table.shape[1:]), strict=True))
    return drawn


def _steps(graph: FactorGraph, root: str) -> list[tuple[str, list[str], int]]:
    """Factors from the root on: the variable above each, those below it, and its number."""
    return [
        (above, [name for name in graph.factors[k].variables if name != above], k)
        for k, above in walk(graph, root)
        if isinstance(k, int) and isinstance(above, str) and len(graph.near[k]) > 1
    ]


def _given_above(
    graph: FactorGraph, messages: Messages, k: int, names: tuple[str, ...], ring: Semiring
) -> Floats:
    """A factor times the messages of its lower variables, the one above on the first axis."""
    received = [Factor((name,), messages[name, k]) for name in names[1:]]
    return keep(product([graph.factors[k], *received], ring), names, ring).table


def _draw(weights: Floats, rng: Generator) -> Ints:
    """One place of each row, with probabilities in proportion to its entries."""
    up_to = weights.cumsum(-1)
    return np.asarray((up_to <= rng.random((len(weights), 1)) * up_to[:, -1:]).sum(-1))


def chosen_apart(scores: list[Floats]) -> list[tuple[int, ...]]:
    """All configurations of values that are each the best of their own node."""
    return list(combinations_of(*([at for (at,) in tied(own)] for own in scores)))


def conditional_modes(log_joint: Floats, start: tuple[int, ...]) -> tuple[int, ...]:
    """Each variable in turn takes its best value given the others, until none changes."""
    at = list(start)
    while True:
        before = tuple(at)
        for k in range(log_joint.ndim):
            along = np.moveaxis(log_joint, k, -1)[tuple(at[:k] + at[k + 1 :])]
            if along.max() > along[at[k]] + EQUAL:
                at[k] = int(np.argmax(along))
        if tuple(at) == before:
            return before
