"""Equations of PRML 8.2 and 8.3, independences of directed and undirected graphs."""

from itertools import combinations, permutations, product

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._graphs import (
    random_dag,
    random_tables,
    random_tree,
)
from bythebook.models.graphs.independence import clique_potentials, joint_of, undirected_joint
from bythebook.models.graphs.structure import (
    Dag,
    Nodes,
    Undirected,
    all_undirected,
    arrows,
    children,
    d_separated_by_paths,
    links,
    moral,
    skeleton,
    stated,
    stated_undirected,
    statements,
)
from bythebook.models.types import Floats


def _conditional(joint: Floats, of: Nodes, given: Nodes) -> Floats:
    """p(of | given) of a joint table; the axes of other nodes have one place."""
    p = joint.sum(tuple(set(range(joint.ndim)) - of - given), keepdims=True)
    return np.asarray(p / p.sum(tuple(of), keepdims=True))


@equation(
    "section 8.2.2, blocked paths",
    section="8.2.2",
    latex=r"\text{all paths blocked}: \quad p(a, b|C) = p(a|C) \, p(b|C)",
)
def blocked_paths(rng: Generator) -> Sides:
    """If all paths between two nodes are blocked, they are independent given the set C."""
    graph = random_dag(rng, 5)
    joint = random_tables(rng, graph)[1]
    truth, printed = [np.ones(1)], [np.ones(1)]
    for s in statements(5):
        a, b = frozenset([s.a]), frozenset([s.b])
        if d_separated_by_paths(graph, a, b, s.given):
            truth.append(_conditional(joint, a | b, s.given).ravel())
            apart = _conditional(joint, a, s.given) * _conditional(joint, b, s.given)
            printed.append(apart.ravel())
    return Sides(truth=np.concatenate(truth), printed=np.concatenate(printed))


@equation(
    "8.35",
    section="8.2.2",
    latex=r"p(\mathcal{D}) = \int_0^\infty p(\mathcal{D}|\mu) p(\mu) \, d\mu",
    corrected=r"p(\mathcal{D}) = \int_{-\infty}^\infty p(\mathcal{D}|\mu) p(\mu) \, d\mu",
    cause="mean-integrated-from-zero",
    within=1e-6,
)
def mean_integrated_out(rng: Generator) -> Sides:
    """The density of data whose Gaussian mean is integrated out, with its closed form."""
    N, m, s, sd = int(rng.integers(2, 6)), rng.normal(), rng.uniform(0.5, 2), rng.uniform(0.5, 2)
    x = rng.normal(rng.normal(m, s), sd, N)
    cov = s**2 * np.ones((N, N)) + sd**2 * np.eye(N)

    def both(mu: float) -> float:
        return float(np.prod(norm.pdf(x, mu, sd)) * norm.pdf(mu, m, s))

    low, high = m - 12 * s, m + 12 * s
    return Sides(
        truth=multivariate_normal(np.full(N, m), cov).pdf(x),
        printed=quad(both, 0, high, epsabs=0, limit=200)[0],
        corrected=quad(both, low, high, epsabs=0, limit=200)[0],
    )


@equation(
    "section 8.2.2, Markov blanket",
    section="8.2.2",
    latex=r"p(\mathbf{x}_i | \mathbf{x}_{\{j \neq i\}}) = \frac{\prod_k p(\mathbf{x}_k |"
    r" \text{pa}_k)}{\int \prod_k p(\mathbf{x}_k | \text{pa}_k) \, d\mathbf{x}_i},"
    r" \quad k = i \text{ or } i \in \text{pa}_k",
)
def blanket_conditional(rng: Generator) -> Sides:
    """In the conditional of a node only its own factor and those of its children remain."""
    M = int(rng.integers(4, 6))
    graph, node = random_dag(rng, M), int(rng.integers(M))
    tables, joint = random_tables(rng, graph)
    names = [str(k) for k in range(M)]
    together = np.ones_like(joint)
    for k in (node, *children(graph, node)):
        together = together * tables[k].over(names)
    return Sides(
        truth=joint / joint.sum(node, keepdims=True),
        printed=together / together.sum(node, keepdims=True),
    )


@equation(
    "section 8.2.2, smallest set",
    section="8.2.2",
    latex=r"\text{parents, children and co-parents} = \text{the smallest set } S \text{ with }"
    r" i \perp \text{rest} \mid S",
)
def smallest_isolating_set(rng: Generator) -> Sides:
    """Parents, children and co-parents are the smallest set that isolates a node from the rest."""
    M = int(rng.integers(3, 6))
    graph, node = random_dag(rng, M, rng.uniform(0.3, 0.8)), int(rng.integers(M))
    below = children(graph, node)
    blanket = (graph[node] | below | {p for child in below for p in graph[child]}) - {node}
    truth = next(
        frozenset(some)
        for size in range(M)
        for some in combinations(sorted(set(range(M)) - {node}), size)
        if d_separated_by_paths(
            graph, frozenset([node]), frozenset(range(M)) - {node, *some}, frozenset(some)
        )
    )
    return Sides(truth=_members(truth, M), printed=_members(blanket, M))


def _members(nodes: Nodes, M: int) -> list[int]:
    """For each node whether it is in a set; the last entry is one."""
    return [*(int(node in nodes) for node in range(M)), 1]


@equation(
    "section 8.3.4, clique potentials",
    section="8.3.4",
    latex=r"\prod_k p(x_k|\text{pa}_k) = \frac{1}{Z} \prod_C \psi_C(\mathbf{x}_C), \quad Z = 1",
)
def tables_in_cliques(rng: Generator) -> Sides:
    """Conditional tables multiplied into cliques of the moral graph, with Z = 1.

    The partition function is the sum over all configurations of the product of the potentials.
    """
    M = int(rng.integers(3, 6))
    graph = random_dag(rng, M)
    tables, joint = random_tables(rng, graph)
    potentials = clique_potentials(moral(graph), tables, joint.shape[0])
    together = joint_of(potentials, M)
    return Sides(truth=(joint, 1.0), printed=(together, together.sum()))


@equation(
    "exercise 8.12",
    section="8.3.4",
    latex=r"\text{number of undirected graphs over } M \text{ nodes} = 2^{M(M-1)/2}",
)
def number_of_undirected_graphs(rng: Generator) -> Sides:
    """The number of undirected graphs, as symmetric matrices of zeros and ones without diagonal."""
    M = int(rng.integers(2, 5))
    matrices = np.array(list(product((0, 1), repeat=M * M))).reshape(-1, M, M)
    symmetric = (matrices == matrices.transpose(0, 2, 1)).all((1, 2))
    without_loops = np.trace(matrices, axis1=1, axis2=2) == 0
    return Sides(truth=np.count_nonzero(symmetric & without_loops), printed=2 ** (M * (M - 1) // 2))


@equation(
    "exercise 8.2",
    section="8.1",
    latex=r"\text{no directed cycle} \iff \text{the nodes have an order along the arrows}",
)
def order_without_cycles(rng: Generator) -> Sides:
    """A graph has no directed cycle if and only if its nodes can be ordered along the arrows.

    Cycles are found by powers of the matrix of arrows, orders by trying all of them.
    """
    truth, printed = [1], [1]
    for _ in range(8):
        M = int(rng.integers(3, 6))
        A = np.triu(rng.random((M, M)) < rng.uniform(0.2, 0.8), 1).astype(int)
        A = np.where(rng.random((M, M)) < 0.2, A.T, A) * (1 - np.eye(M, dtype=int))
        names = rng.permutation(M)
        A = A[names][:, names]
        walks = [np.trace(np.linalg.matrix_power(A, length)) for length in range(1, M + 1)]
        truth.append(int(not any(walks)))
        ordered = (not np.tril(A[list(way)][:, list(way)]).any() for way in permutations(range(M)))
        printed.append(int(any(ordered)))
    return Sides(truth=truth, printed=printed)


@equation(
    "exercise 8.18",
    section="8.4.3",
    latex=r"\prod_{(i,j)} \psi_{ij}(x_i, x_j) \propto p(x_r) \prod_{i \neq r} p(x_i|\text{pa}_i),"
    r" \quad p(x_r) \prod_{i \neq r} p(x_i|\text{pa}_i) = \prod_{(i,j)} \psi_{ij}(x_i, x_j)",
)
def directed_and_undirected_trees(rng: Generator) -> Sides:
    """A tree's distribution in the other kind of graph, with any node as the root."""
    M, K = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    tree = random_tree(rng, M)
    joint = undirected_joint(tree, K, rng)
    way = _away_from(tree, int(rng.integers(M)))
    directed = random_tables(rng, way)[1]
    conditionals, on_links = np.ones_like(joint), np.ones_like(directed)
    for node, parents in enumerate(way):
        conditionals = conditionals * _conditional(joint, frozenset([node]), parents)
    for root, node in arrows(way):  # the table of a link from the root has the root's own as well
        pair = _conditional(directed, frozenset([node]), frozenset([root]))
        if not way[root] and node == min(children(way, root)):
            pair = pair * _conditional(directed, frozenset([root]), frozenset())
        on_links = on_links * pair
    return Sides(truth=(joint, directed), printed=(conditionals, on_links))


def _away_from(tree: Undirected, root: int) -> Dag:
    """The tree with all arrows pointing away from the root."""
    parents: dict[int, int] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for near in tree[node] - {parents.get(node, -1)}:
            parents[near] = node
            waiting.append(near)
    return tuple(frozenset([parents[i]]) if i in parents else frozenset() for i in range(len(tree)))


@equation(
    "section 8.3.4, fewest links",
    section="8.3.4",
    latex=r"\text{links of the moral graph} = \min \text{links},"
    r" \quad \text{each node and its parents in one clique}",
)
def moral_graph_adds_fewest_links(rng: Generator) -> Sides:
    """No graph in which each node and its parents are linked has fewer links than the moral graph.

    The same graph has the most independences among those that have none of their own.
    """
    graph = random_dag(rng, 4, rng.uniform(0.3, 0.9))
    families = [frozenset([node]) | parents for node, parents in enumerate(graph)]
    own = stated(graph)
    others = [(one, stated_undirected(one)) for one in all_undirected(4)]
    fewest = min(
        len(links(one))
        for one, _ in others
        if all(j in one[i] for family in families for i, j in combinations(family, 2))
    )
    most = max(len(said) for _, said in others if said <= own)
    married = {pair for parents in graph for pair in combinations(sorted(parents), 2)}
    found = moral(graph)
    return Sides(
        truth=(fewest, most + 1),
        printed=(
            len(set(links(skeleton(graph))) | married),
            len(stated_undirected(found)) + 1,
        ),
    )


@equation(
    "8.30 to 8.33",
    section="8.2.1",
    latex=r"p(G) = \sum_B \sum_F p(G|B, F) p(B) p(F), \quad p(F|G) = \frac{p(G|F) p(F)}{p(G)},"
    r" \quad p(F|G, B) = \frac{p(G|B, F) p(F)}{\sum_F p(G|B, F) p(F)}",
)
def posterior_of_a_cause(rng: Generator) -> Sides:
    """The probability of one of two causes, given their effect and given the other cause too."""
    K = rng.integers(2, 5, 3)
    B, F = rng.dirichlet(np.full(K[0], 1.5)), rng.dirichlet(np.full(K[1], 1.5))
    G = rng.dirichlet(np.full(K[2], 1.5), K[:2])  # p(G|B, F), over B, F, G
    joint = B[:, None, None] * F[:, None] * G
    evidence = np.einsum("bfg,b,f->g", G, B, F)
    given_F = np.einsum("bfg,b->fg", G, B)
    both = G * F[:, None]
    return Sides(
        truth=(
            joint.sum((0, 1)),
            joint.sum(0) / joint.sum((0, 1)),
            joint / joint.sum(1, keepdims=True),
        ),
        printed=(evidence, given_F * F[:, None] / evidence, both / both.sum(1, keepdims=True)),
    )


@equation(
    "8.104",
    section="8.1.3",
    latex=r"p(y = 1|x_1, \ldots, x_M) = 1 - (1 - \mu_0) \prod_{i=1}^M (1 - \mu_i)^{x_i}",
)
def noisy_or(rng: Generator) -> Sides:
    """The OR of a leak and of parents that each get through with a probability of their own.

    The reference sums over what gets through.
    """
    M = int(rng.integers(1, 5))
    mu, x = rng.uniform(0.1, 0.9, M + 1), rng.integers(0, 2, M)
    truth = 0.0
    for open_ in product((0, 1), repeat=M + 1):  # the leak, and the channel of each parent
        chance = np.prod([m if k else 1 - m for k, m in zip(open_, mu, strict=True)])
        arrives = open_[0] or any(k and on for k, on in zip(open_[1:], x, strict=True))
        truth += float(chance) * bool(arrives)
    return Sides(truth=truth, printed=1 - (1 - mu[0]) * np.prod((1 - mu[1:]) ** x))


@equation(
    "table 8.2, exercise 8.4",
    section="8.2.1",
    latex=r"p(a, b, c) = p(a) p(c|a) p(b|c)",
)
def table_with_one_independence(rng: Generator) -> Sides:
    """The printed table of three variables as a chain, for a random entry."""
    table = np.array([0.192, 0.144, 0.048, 0.216, 0.192, 0.064, 0.048, 0.096]).reshape(2, 2, 2)
    a, b, c = rng.integers(0, 2, 3)
    p_a, p_ac, p_bc, p_c = table.sum((1, 2)), table.sum(1), table.sum(0), table.sum((0, 1))
    return Sides(truth=table[a, b, c], printed=p_a[a] * p_ac[a, c] / p_a[a] * p_bc[b, c] / p_c[c])


@equation(
    "8.5, exercise 8.1",
    section="8.1",
    latex=r"p(\mathbf{x}) = \prod_{k=1}^K p(x_k|\text{pa}_k), \quad"
    r" \sum_{\mathbf{x}} p(\mathbf{x}) = 1",
)
def product_of_conditionals(rng: Generator) -> Sides:
    """The joint of a directed graph is normalised, and its conditionals are the tables.

    The sum is over all configurations, and each conditional is computed from the joint table.
    """
    M = int(rng.integers(3, 6))
    graph = random_dag(rng, M)
    tables, joint = random_tables(rng, graph)
    node = int(rng.integers(M))
    own = tables[node].over([str(k) for k in range(M)])
    found = _conditional(joint, frozenset([node]), graph[node])
    return Sides(truth=(own, 1.0), printed=(found, joint.sum()))
