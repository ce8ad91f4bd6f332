"""Expectation propagation on a factor graph against sum-product, step by step (PRML 10.7.2)."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.studies.graphs._joint import shared
from bythebook.models.graphs.factors import keep, product
from bythebook.models.graphs.propagation import FactorGraph, Messages, send, two_passes
from bythebook.models.graphs.refinement import (
    Terms,
    approximation,
    factor_belief,
    message,
    nearest_product,
    pairs,
    random_terms,
    refine,
)
from bythebook.models.types import Floats

SWEEPS, STARTS = 3, 5  # refinements of all factors; random starts


class Refined(NamedTuple):
    """Expectation propagation on one draw of the tables: worst differences of normalised terms."""

    refined_gap: float
    printed_gap: float
    others_change: float
    first_formula_gap: float
    second_formula_gap: float
    one_term_gap: float
    two_pass_error: float
    start_spread: float


def compare(tree: FactorGraph, closed: FactorGraph, j: int, rng: Generator) -> Refined:
    """Refinement of one factor of a tree, and of all in turn, with loops as well."""
    start = random_terms(tree, rng)
    (a, b), table = tree.factors[j]
    new, rest = refine(tree, start, j), approximation(tree, start, j)
    formulas = (shared(rest[b] @ table.T), shared(rest[a] @ table))
    one = refine(tree, start, j, [b])
    q, after = approximation(tree, start), approximation(tree, new)
    others = [x for x in tree.states if x not in (a, b)]
    ends = [_two_passes(tree, random_terms(tree, rng)) for _ in range(STARTS)]
    gaps = [_serial_gap(graph, random_terms(graph, rng)) for graph in (tree, closed)]
    return Refined(
        refined_gap=max(gap for gap, _ in gaps),
        printed_gap=max(gap for _, gap in gaps),
        others_change=max((_apart(q[x], after[x]) for x in others), default=0.0),
        first_formula_gap=_apart(new[j, a], formulas[0]),
        second_formula_gap=_apart(new[j, b], formulas[1]),
        one_term_gap=max(_apart(one[j, b], formulas[1]), _apart(one[j, a], start[j, a])),
        two_pass_error=max(_errors(tree, terms) for terms in ends),
        start_spread=max(
            _apart(ends[0][pair], terms[pair]) for terms in ends[1:] for pair in pairs(tree)
        ),
    )


def _serial_gap(graph: FactorGraph, terms: Terms) -> tuple[float, float]:
    """Refined terms against messages, and those by (10.240) as printed, factor after factor."""
    worst = printed = 0.0
    for _ in range(SWEEPS):
        for j in range(len(graph.factors)):
            new = refine(graph, terms, j)
            for x in graph.factors[j].variables:
                messages: Messages = dict(terms.items())
                messages |= {(y, j): send(graph, messages, (y, j)) for y in graph.near[j]}
                rule = shared(send(graph, messages, (j, x)))
                worst = max(worst, _apart(new[j, x], rule))
                printed = max(printed, _apart(message(graph, terms, j, x, printed=True), rule))
            terms = new
    return worst, printed


def _two_passes(graph: FactorGraph, terms: Terms) -> Terms:
    """Terms refined one by one in the order in which messages go to a root and from it."""
    for j, x in two_passes(graph, next(iter(graph.states))):
        if isinstance(j, int):
            terms = refine(graph, terms, j, [str(x)])
    return terms


def _errors(graph: FactorGraph, terms: Terms) -> float:
    """The largest error of the marginals of variables and of factors."""
    joint = product(graph.factors)
    nodes = [
        _apart(q, shared(keep(joint, [x]).table)) for x, q in approximation(graph, terms).items()
    ]
    whole = [
        _apart(factor_belief(graph, terms, j), shared(keep(joint, f.variables).table))
        for j, f in enumerate(graph.factors)
    ]
    return max(*nodes, *whole)


def divergence_gap(graph: FactorGraph) -> float:
    """Difference of the factors of the product closest to the joint from its marginals."""
    joint = product(graph.factors)
    p = shared(joint.table)
    return max(
        _apart(q, shared(keep(joint, [x]).table))
        for x, q in zip(joint.variables, nearest_product(p), strict=True)
    )


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max())
