"""Equations of PRML 8.4.4: messages in factor graphs without loops, against all configurations."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._trees import (
    FactorTree,
    marginal,
    product,
    random_factor_tree,
)
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.propagation import factor_graph, two_passes
from bythebook.models.types import Floats


def _to_variable(graph: FactorTree, s: int, x: int) -> Floats:
    """The message of factor s to variable x (8.66); from a leaf it is the factor (8.71)."""
    scope, table = graph.scopes[s], graph.tables[s]
    for axis, m in enumerate(scope):
        if m != x:
            shape = [-1 if a == axis else 1 for a in range(len(scope))]
            table = table * _to_factor(graph, m, s).reshape(shape)
    return np.asarray(table.sum(tuple(a for a, m in enumerate(scope) if m != x)))


def _to_factor(graph: FactorTree, x: int, s: int) -> Floats:
    """The message of variable x to factor s (8.69); from a leaf it is one (8.70)."""
    message = np.ones(graph.sizes[x])
    for other in _factors_of(graph, x):
        if other != s:
            message = message * _to_variable(graph, other, x)
    return message


def _factors_of(graph: FactorTree, x: int) -> list[int]:
    return [s for s, scope in enumerate(graph.scopes) if x in scope]


@equation(
    "8.63, 8.66, 8.69 to 8.71",
    section="8.4.4",
    latex=r"p(x) = \prod_{s \in \text{ne}(x)} \mu_{f_s \rightarrow x}(x), \quad"
    r" \mu_{f_s \rightarrow x}(x) = \sum_{x_1} \ldots \sum_{x_M} f_s(x, x_1, \ldots, x_M)"
    r" \prod_{m \in \text{ne}(f_s) \setminus x} \mu_{x_m \rightarrow f_s}(x_m), \quad"
    r" \mu_{x_m \rightarrow f_s}(x_m) = \prod_{l \in \text{ne}(x_m) \setminus f_s}"
    r" \mu_{f_l \rightarrow x_m}(x_m)",
)
def sum_product(rng: Generator) -> Sides:
    """The product of the messages to a variable is its marginal, up to the normaliser."""
    graph = random_factor_tree(rng)
    x = int(rng.integers(len(graph.sizes)))
    messages = [_to_variable(graph, s, x) for s in _factors_of(graph, x)]
    return Sides(truth=marginal(product(graph), [x]), printed=np.prod(messages, axis=0))


@equation(
    "8.73 to 8.85",
    section="8.4.4",
    latex=r"\mu_{f_a \rightarrow x_2}(x_2) = \sum_{x_1} f_a(x_1, x_2), \; \ldots, \;"
    r" \mu_{f_c \rightarrow x_4}(x_4) = \sum_{x_2} f_c(x_2, x_4) \mu_{x_2 \rightarrow f_c}(x_2)",
)
def example_messages(rng: Generator) -> Sides:
    """The six messages to the root x_3 of the graph of Figure 8.51, and the six from it.

    The other route is the algorithm for any factor graph.
    """
    n1, n2, n3, n4 = rng.integers(2, 5, 4)
    fa, fb, fc = (rng.uniform(0.1, 2, shape) for shape in ((n1, n2), (n2, n3), (n2, n4)))
    tables = [(("x1", "x2"), fa), (("x2", "x3"), fb), (("x2", "x4"), fc)]
    sent = two_passes(factor_graph([Factor(*table) for table in tables]), "x3")
    a, b, c = 0, 1, 2
    to_root = [("x1", a), (a, "x2"), ("x4", c), (c, "x2"), ("x2", b), (b, "x3")]
    from_root = [("x3", b), (b, "x2"), ("x2", a), (a, "x1"), ("x2", c), (c, "x4")]
    fa_x2, fc_x2, fb_x2 = fa.sum(0), fc.sum(1), fb.sum(1)  # 8.75, 8.77, 8.81
    inward = (np.ones(n1), fa_x2, np.ones(n4), fc_x2, fa_x2 * fc_x2, (fa_x2 * fc_x2) @ fb)
    x2_fa, x2_fc = fb_x2 * fc_x2, fa_x2 * fb_x2  # 8.82, 8.84
    outward = (np.ones(n3), fb_x2, x2_fa, fa @ x2_fa, x2_fc, x2_fc @ fc)
    return Sides(
        truth=tuple(sent[link] for link in [*to_root, *from_root]),  # type: ignore[index]
        printed=inward + outward,
    )


@equation(
    "8.86",
    section="8.4.4",
    latex=r"\left[ \sum_{x_1} f_a(x_1, x_2) \right] \left[ \sum_{x_3} f_b(x_2, x_3) \right]"
    r" \left[ \sum_{x_4} f_c(x_2, x_4) \right] = \sum_{x_1} \sum_{x_2} \sum_{x_4}"
    r" f_a(x_1, x_2) f_b(x_2, x_3) f_c(x_2, x_4)",
    corrected=r"\left[ \sum_{x_1} f_a(x_1, x_2) \right] \left[ \sum_{x_3} f_b(x_2, x_3) \right]"
    r" \left[ \sum_{x_4} f_c(x_2, x_4) \right] = \sum_{x_1} \sum_{x_3} \sum_{x_4}"
    r" f_a(x_1, x_2) f_b(x_2, x_3) f_c(x_2, x_4)",
    cause="marginal-summed-over-itself",
)
def example_marginal(rng: Generator) -> Sides:
    """The product of the messages at x_2 in the graph of Figure 8.51, as a sum of the joint table.

    The printed sum is a function of x_3, which has as many states as x_2 here.
    """
    K, n1, n4 = rng.integers(2, 5, 3)
    fa, fb, fc = (rng.uniform(0.1, 2, shape) for shape in ((n1, K), (K, K), (K, n4)))
    joint = np.einsum("ab,bc,bd->abcd", fa, fb, fc)
    return Sides(
        truth=fa.sum(0) * fb.sum(1) * fc.sum(1),
        printed=joint.sum((0, 1, 3)),
        corrected=joint.sum((0, 2, 3)),
    )


@equation(
    "8.72, exercises 8.21 and 8.24",
    section="8.4.4",
    latex=r"p(\mathbf{x}_s) = f_s(\mathbf{x}_s) \prod_{i \in \text{ne}(f_s)}"
    r" \mu_{x_i \rightarrow f_s}(x_i)",
)
def factor_marginal(rng: Generator) -> Sides:
    """A factor times the messages to it is the marginal of its variables."""
    graph = random_factor_tree(rng)
    s = int(rng.integers(len(graph.scopes)))
    scope, printed = graph.scopes[s], graph.tables[s]
    for axis, i in enumerate(scope):
        shape = [-1 if a == axis else 1 for a in range(len(scope))]
        printed = printed * _to_factor(graph, i, s).reshape(shape)
    return Sides(truth=marginal(product(graph), scope), printed=printed)


@equation(
    "exercise 8.23",
    section="8.4.4",
    latex=r"p(x_i) = \mu_{x_i \rightarrow f_s}(x_i) \, \mu_{f_s \rightarrow x_i}(x_i)",
)
def link_product(rng: Generator) -> Sides:
    """A marginal is the product of the messages both ways over any one of its links."""
    graph = random_factor_tree(rng)
    s = int(rng.integers(len(graph.scopes)))
    i = int(rng.choice(graph.scopes[s]))
    printed = _to_factor(graph, i, s) * _to_variable(graph, s, i)
    return Sides(truth=marginal(product(graph), [i]), printed=printed)


@equation(
    "exercise 8.26",
    section="8.4.4",
    latex=r"p(x_a = k, x_b) = \prod_{s \in \text{ne}(x_b)} \mu_{f_s \rightarrow x_b}(x_b)"
    r" \quad \text{with} \quad x_a \; \text{clamped to} \; k",
)
def clamped_pairs(rng: Generator) -> Sides:
    """The joint distribution of two variables, by clamping one to each of its states."""
    graph = random_factor_tree(rng)
    a, b = rng.choice(len(graph.sizes), 2, replace=False).tolist()
    rows = []
    for clamp in np.eye(graph.sizes[a]):
        clamped = FactorTree(graph.sizes, (*graph.scopes, (a,)), (*graph.tables, clamp))
        messages = [_to_variable(clamped, s, b) for s in _factors_of(clamped, b)]
        rows.append(np.prod(messages, axis=0))
    return Sides(truth=marginal(product(graph), [a, b]), printed=rows)
