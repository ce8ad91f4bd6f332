r"""Expectation propagation with a term for each factor and variable (PRML 10.7.2).

    q(x) ~ prod over factors i and their variables k of t_ik(x_k)                      10.237
    p^(x) = q without the terms of j, times f_j                                        10.239
    t_jl ~ marginal of p^ over x_l, divided by that of q without j

Marginals are sums of whole tables over all variables, as the section describes, so that the module
does not use sum-product code. `message` is the rule that it must agree with, (10.240).
"""

from collections.abc import Iterable

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.models.graphs.factors import Factor, keep, product
from bythebook.models.graphs.propagation import FactorGraph
from bythebook.models.types import Floats

Terms = dict[tuple[int, str], Floats]  # by factor and variable, each summing to one


def pairs(graph: FactorGraph) -> list[tuple[int, str]]:
    """Every factor with every variable of it."""
    return [(k, name) for k, factor in enumerate(graph.factors) for name in factor.variables]


def random_terms(graph: FactorGraph, rng: Generator) -> Terms:
    """Random positive initial terms."""
    return {(k, x): _shared(rng.uniform(0.2, 1.0, graph.states[x])) for k, x in pairs(graph)}


def approximation(graph: FactorGraph, terms: Terms, without: int = -1) -> dict[str, Floats]:
    """The approximation of each variable, with or without the terms of a factor (10.238)."""
    q = {x: np.ones(size) for x, size in graph.states.items()}
    for (k, x), term in terms.items():
        if k != without:
            q[x] = q[x] * term
    return {x: _shared(own) for x, own in q.items()}


def refine(graph: FactorGraph, terms: Terms, j: int, only: Iterable[str] | None = None) -> Terms:
    """Terms after an update of those of factor j, or of some of them."""
    rest = approximation(graph, terms, j)
    tilted = product([graph.factors[j], *(Factor((x,), q) for x, q in rest.items())])
    wanted = graph.factors[j].variables if only is None else only
    fresh = {(j, x): _shared(keep(tilted, [x]).table / rest[x]) for x in wanted}
    return {**terms, **fresh}


def message(graph: FactorGraph, terms: Terms, j: int, to: str, *, printed: bool = False) -> Floats:
    """The sum-product rule (10.240); `printed`: its product also contains factor j."""
    received = [
        Factor((x,), term)
        for (k, x), term in terms.items()
        if x in graph.near[j] and x != to and (printed or k != j)
    ]
    return _shared(keep(product([graph.factors[j], *received]), [to]).table)


def factor_belief(graph: FactorGraph, terms: Terms, j: int) -> Floats:
    """A factor times the approximations of its variables by all others, normalised (8.72)."""
    rest = approximation(graph, terms, j)
    own = graph.factors[j]
    received = [Factor((x,), rest[x]) for x in own.variables]
    return _shared(keep(product([own, *received]), own.variables).table)


def nearest_product(joint: Floats) -> list[Floats]:
    """The product of distributions with the smallest KL(p || q), by a minimiser (10.17)."""
    ends = np.cumsum(joint.shape)[:-1]

    def divergence(theta: Floats) -> float:
        q = [_soft(part) for part in np.split(theta, ends)]
        whole = product([Factor((str(k),), part) for k, part in enumerate(q)]).table
        return float((joint * np.log(joint / whole)).sum())

    found = minimize(divergence, np.zeros(sum(joint.shape)), method="BFGS", tol=1e-10)
    return [_soft(part) for part in np.split(found.x, ends)]


def _soft(theta: Floats) -> Floats:
    return _shared(np.exp(theta - theta.max()))


def _shared(weights: Floats) -> Floats:
    """The entries divided by their sum."""
    return np.asarray(weights / weights.sum())
