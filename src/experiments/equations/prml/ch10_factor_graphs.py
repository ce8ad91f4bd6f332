"""Equations of PRML 10.7.2: expectation propagation on factor graphs.

The other route takes a factor out of the approximation, multiplies the exact one in, sums the
whole table of all variables, and divides (10.238, 10.239).
"""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._trees import (
    FactorTree,
    marginal,
    product,
    random_factor_tree,
)
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.propagation import factor_graph, send, two_passes
from bythebook.models.types import Floats

Terms = dict[tuple[int, int], Floats]  # by factor and variable


def _normalised(table: Floats) -> Floats:
    return np.asarray(table / table.sum())


def _graph(rng: Generator) -> FactorTree:
    """A random factor graph, in half of the cases with one more factor that closes a loop."""
    graph = random_factor_tree(rng, max_variables=6)
    if rng.random() < 0.5:
        pair = tuple(rng.choice(len(graph.sizes), 2, replace=False).tolist())
        table = rng.uniform(0.1, 2, [graph.sizes[x] for x in pair])
        graph = FactorTree(graph.sizes, (*graph.scopes, pair), (*graph.tables, table))
    return graph


def _terms(graph: FactorTree, rng: Generator) -> Terms:
    return {
        (i, k): _normalised(rng.uniform(0.2, 1, graph.sizes[k]))
        for i, scope in enumerate(graph.scopes)
        for k in scope
    }


def _approximation(graph: FactorTree, terms: Terms, without: int = -1) -> list[Floats]:
    """The factors of q for all variables, with or without the terms of a factor (10.238)."""
    q = [np.ones(size) for size in graph.sizes]
    for (i, k), term in terms.items():
        if i != without:
            q[k] = q[k] * term
    return q


def _tilted(graph: FactorTree, terms: Terms, j: int) -> Floats:
    """The table of q without factor j, times the exact factor (10.239)."""
    rest = _approximation(graph, terms, j)
    scopes = (*((k,) for k in range(len(rest))), graph.scopes[j])
    return product(FactorTree(graph.sizes, scopes, (*rest, graph.tables[j])))


def _refined(graph: FactorTree, terms: Terms, j: int, k: int) -> Floats:
    """The term of factor j and variable k after the refinement, normalised."""
    rest = _approximation(graph, terms, j)[k]
    return _normalised(marginal(_tilted(graph, terms, j), [k]) / rest)


def _figure(rng: Generator) -> tuple[FactorTree, Terms]:
    """The graph of Figure 10.18, with random terms; x_1 is variable 0, f_a is factor 0."""
    sizes = tuple(rng.integers(2, 5, 4).tolist())
    scopes = (0, 1), (1, 2), (1, 3)
    tables = tuple(rng.uniform(0.1, 2, [sizes[x] for x in scope]) for scope in scopes)
    graph = FactorTree(sizes, scopes, tables)
    return graph, _terms(graph, rng)


@equation(
    "10.17, of 10.7.2",
    section="10.7.2",
    latex=r"q_j^\star(\mathbf{Z}_j) = \int p(\mathbf{Z}) \prod_{i \neq j} d\mathbf{Z}_i",
    within=1e-4,
)
def closest_product(rng: Generator) -> Sides:
    """The factors of the product that minimises KL(p || q), by a numerical minimiser."""
    p = _normalised(rng.uniform(0.1, 2, rng.integers(2, 4, 2)))
    rows = p.shape[0]

    def factors(theta: Floats) -> list[Floats]:
        parts = theta[:rows], theta[rows:]
        return [_normalised(np.exp(part - part.max())) for part in parts]

    def divergence(theta: Floats) -> float:
        return float((p * np.log(p / np.multiply.outer(*factors(theta)))).sum())

    best = minimize(divergence, np.zeros(sum(p.shape)), method="BFGS", options={"gtol": 1e-8})
    truth = factors(best.x)
    return Sides(truth=(truth[0], truth[1]), printed=(p.sum(1), p.sum(0)))


@equation(
    "10.230 to 10.233",
    section="10.7.2",
    latex=r"\hat{p}(x_1) \propto \tilde{f}_{a1}(x_1), \quad \hat{p}(x_2) \propto"
    r" \tilde{f}_{a2}(x_2) \tilde{f}_{c2}(x_2) \sum_{x_3} f_b(x_2, x_3), \quad"
    r" \hat{p}(x_3) \propto \sum_{x_2} \left\{ f_b(x_2, x_3) \tilde{f}_{a2}(x_2)"
    r" \tilde{f}_{c2}(x_2) \right\}, \quad \hat{p}(x_4) \propto \tilde{f}_{c4}(x_4)",
)
def refined_marginals(rng: Generator) -> Sides:
    """The marginals of q without the factor b, times the exact one, for Figure 10.18."""
    graph, terms = _figure(rng)
    fb = graph.tables[1]
    a1, a2, c2, c4 = terms[0, 0], terms[0, 1], terms[2, 1], terms[2, 3]
    printed = a1, a2 * c2 * fb.sum(1), (fb.T * a2 * c2).sum(1), c4
    tilted = _tilted(graph, terms, 1)
    return Sides(
        truth=tuple(_normalised(marginal(tilted, [k])) for k in range(4)),
        printed=tuple(_normalised(table) for table in printed),
    )


@equation(
    "10.234, 10.235",
    section="10.7.2",
    latex=r"\tilde{f}_{b2}(x_2) \propto \sum_{x_3} f_b(x_2, x_3), \quad \tilde{f}_{b3}(x_3) \propto"
    r" \sum_{x_2} \left\{ f_b(x_2, x_3) \tilde{f}_{a2}(x_2) \tilde{f}_{c2}(x_2) \right\}",
)
def refined_factors(rng: Generator) -> Sides:
    """The refined terms of the factor b in the graph of Figure 10.18."""
    graph, terms = _figure(rng)
    fb, a2, c2 = graph.tables[1], terms[0, 1], terms[2, 1]
    return Sides(
        truth=tuple(_refined(graph, terms, 1, k) for k in (1, 2)),
        printed=(_normalised(fb.sum(1)), _normalised((fb.T * a2 * c2).sum(1))),
    )


@equation(
    "10.240",
    section="10.7.2",
    latex=r"\tilde{f}_{jl}(\theta_l) \propto \sum_{\theta_{m \neq l} \in \mathbf{\theta}_j}"
    r" f_j(\mathbf{\theta}_j) \prod_k \prod_{m \neq l} \tilde{f}_{km}(\theta_m)",
    corrected=r"\tilde{f}_{jl}(\theta_l) \propto \sum_{\theta_{m \neq l} \in \mathbf{\theta}_j}"
    r" f_j(\mathbf{\theta}_j) \prod_{k \neq j} \prod_{m \neq l} \tilde{f}_{km}(\theta_m)",
    cause="own-factor-not-left-out",
)
def refinement_rule(rng: Generator) -> Sides:
    """The refined term of a factor and a variable, with and without loops."""
    graph = _graph(rng)
    terms = _terms(graph, rng)
    j = int(rng.choice([j for j, scope in enumerate(graph.scopes) if len(scope) > 1]))
    scope = graph.scopes[j]
    l = int(rng.choice(scope))

    def rule(left_out: int) -> Floats:
        table = graph.tables[j]
        for axis, m in enumerate(scope):
            for k, other in enumerate(graph.scopes):
                if m != l and m in other and k != left_out:
                    shape = [-1 if a == axis else 1 for a in range(len(scope))]
                    table = table * terms[k, m].reshape(shape)
        return _normalised(table.sum(tuple(a for a, m in enumerate(scope) if m != l)))

    return Sides(truth=_refined(graph, terms, j, l), printed=rule(-1), corrected=rule(j))


@equation(
    "section 10.7.2, general case",
    section="10.7.2",
    latex=r"\tilde{f}_{jm}(\theta_m) = \mu_{f_j \rightarrow \theta_m}(\theta_m)",
)
def refinement_is_propagation(rng: Generator) -> Sides:
    """A refined term is the message of the sum-product algorithm, with and without loops.

    The messages that arrive are the terms of the other factors.
    """
    graph = _graph(rng)
    terms = _terms(graph, rng)
    j = int(rng.integers(len(graph.scopes)))
    k = int(rng.choice(graph.scopes[j]))
    pairs = zip(graph.scopes, graph.tables, strict=True)
    factors = factor_graph([Factor(tuple(f"x{m}" for m in s), table) for s, table in pairs])
    messages = {(i, f"x{m}"): term for (i, m), term in terms.items()}
    for m in graph.scopes[j]:
        messages[f"x{m}", j] = send(factors, messages, (f"x{m}", j))  # type: ignore[index, arg-type]
    message = send(factors, messages, (j, f"x{k}"))  # type: ignore[arg-type]
    return Sides(truth=_refined(graph, terms, j, k), printed=_normalised(message))


@equation(
    "section 10.7.2, two passes",
    section="10.7.2",
    latex=r"p(x_i) \propto \prod_s \tilde{f}_{si}(x_i), \quad p(\mathbf{x}_s) \propto"
    r" f_s(\mathbf{x}_s) \prod_{i} \prod_{t \neq s} \tilde{f}_{ti}(x_i)",
)
def two_pass_refinement(rng: Generator) -> Sides:
    """Variable and factor marginals of a tree, from random terms that are refined one by one.

    The order of the refinements is that of the messages to a random root and from it.
    """
    graph = random_factor_tree(rng, max_variables=6)
    terms = _terms(graph, rng)
    pairs = zip(graph.scopes, graph.tables, strict=True)
    factors = factor_graph([Factor(tuple(f"x{m}" for m in s), table) for s, table in pairs])
    root = f"x{rng.integers(len(graph.sizes))}"
    order = [(j, int(str(x)[1:])) for j, x in two_passes(factors, root) if isinstance(j, int)]
    for j, k in order:
        terms[j, k] = _refined(graph, terms, j, k)
    s = int(rng.integers(len(graph.scopes)))
    own = graph.tables[s]
    for axis, i in enumerate(graph.scopes[s]):
        rest = _approximation(graph, terms, s)[i]
        own = own * rest.reshape([-1 if a == axis else 1 for a in range(own.ndim)])
    joint = _normalised(product(graph))
    variables = [_normalised(q) for q in _approximation(graph, terms)]
    return Sides(
        truth=(
            *(marginal(joint, [k]) for k in range(joint.ndim)),
            marginal(joint, graph.scopes[s]),
        ),
        printed=(*variables, _normalised(own)),
    )
