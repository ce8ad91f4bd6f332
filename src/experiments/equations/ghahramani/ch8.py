"""Equations of Ghahramani 8: elimination, messages in graphs without loops, and cutsets."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.factors import Factor, condition
from bythebook.models.graphs.propagation import factor_graph, marginal, two_passes
from bythebook.models.state_space.kalman import LDS, kalman_filter_reference, rts_smoother_reference
from bythebook.models.types import Floats


class _Network(NamedTuple):
    """A directed graph with one path between any two nodes, its tables, and evidence."""

    parents: list[list[int]]
    tables: list[Floats]  # P(x | parents), with the axes of the parents first
    joint: Floats  # with an axis for each node
    evidence: dict[int, int]  # state by node
    node: int  # X, which has parents and children and is not observed

    def children(self, node: int) -> list[int]:
        return [child for child, own in enumerate(self.parents) if node in own]

    def side(self, start: int, without: set[tuple[int, int]]) -> dict[int, int]:
        """The evidence at the nodes that are connected with `start` without some edges."""
        edges = {(p, c) for c, own in enumerate(self.parents) for p in own} - without
        reached, waiting = set[int](), [start]
        while waiting:
            node = waiting.pop()
            reached.add(node)
            near = {b if a == node else a for a, b in edges if node in (a, b)}
            waiting += near - reached
        return {node: state for node, state in self.evidence.items() if node in reached}

    def table(self, nodes: list[int], evidence: dict[int, int]) -> Floats:
        """P(nodes, evidence), from all configurations; the axes are in the order of `nodes`."""
        table = self.joint
        for node, state in evidence.items():
            one = np.zeros(table.shape[node])
            one[state] = 1
            table = table * one.reshape([-1 if n == node else 1 for n in range(table.ndim)])
        total = table.sum(tuple(n for n in range(table.ndim) if n not in nodes))
        return np.asarray(total.transpose(np.argsort(np.argsort(nodes))))

    def given(self, node: int, evidence: dict[int, int]) -> Floats:
        """P(node | evidence)."""
        table = self.table([node], evidence)
        return np.asarray(table / table.sum())

    def likelihood(self, node: int, evidence: dict[int, int]) -> Floats:
        """P(evidence | node)."""
        return np.asarray(self.table([node], evidence) / self.table([node], {}))

    def above(self, parent: int, child: int) -> dict[int, int]:
        """The evidence upstream of an edge."""
        return self.side(parent, {(parent, child)})

    def below(self, parent: int, child: int) -> dict[int, int]:
        """The evidence downstream of an edge."""
        return self.side(child, {(parent, child)})


def _network(rng: Generator) -> _Network:
    """A random graph with one node that has two parents or more, and a child."""
    while True:
        size = int(rng.integers(5, 8))
        group, parents = list(range(size)), [list[int]() for _ in range(size)]
        for child in range(1, size):
            for parent in rng.permutation(child)[: rng.integers(4)].tolist():
                if group[parent] != group[child]:  # else there would be two paths
                    parents[child].append(parent)
                    group = [group[parent] if g == group[child] else g for g in group]
        inner = [n for n in range(size) if len(parents[n]) > 1 and any(n in p for p in parents)]
        if inner:
            break
    states = rng.integers(2, 4, size)
    tables = [rng.dirichlet(np.ones(states[n]), states[parents[n]]) for n in range(size)]
    letters = "abcdefg"
    scopes = ["".join(letters[p] for p in own) + letters[n] for n, own in enumerate(parents)]
    joint = np.einsum(",".join(scopes) + "->" + letters[:size], *tables)
    node = int(rng.choice(inner))
    others = [n for n in range(size) if n != node and n != parents[node][0]]
    observed = rng.choice(others, int(rng.integers(2, len(others) + 1)), replace=False)
    evidence = {int(n): int(rng.integers(states[n])) for n in observed}
    return _Network(parents, tables, joint, evidence, node)


def _sum_over_parents(table: Floats, messages: list[Floats]) -> Floats:
    """The sum over all parents of P(X | U_1, ..., U_n) times a message for each of them."""
    for message in messages:
        table = np.tensordot(message, table, axes=1)
    return table


def _normalised(table: Floats) -> Floats:
    return np.asarray(table / table.sum())


@equation(
    "section 8.1",
    section="8.1",
    latex=r"\phi(A, B, d) = \sum_c P(c|A, B) P(d|c, B), \quad \phi'(A, d) = \sum_b P(b)"
    r" \phi(A, b, d), \quad P(A|D = d) = \frac{P(A) \phi'(A, d)}{\sum_a P(a) \phi'(a, d)}",
)
def elimination(rng: Generator) -> Sides:
    """P(A | D = d) in the graph of Figure 1, with E, C and B eliminated, for each d."""
    a, b, c, d, e = rng.integers(2, 5, 5).tolist()
    A, B = rng.dirichlet(np.ones(a)), rng.dirichlet(np.ones(b))
    C, D = rng.dirichlet(np.ones(c), (a, b)), rng.dirichlet(np.ones(d), (c, b))
    E = rng.dirichlet(np.ones(e), (c, d))
    joint = np.einsum("a,b,abc,cbd,cde->ad", A, B, C, D, E)
    phi = np.einsum("abc,cbd->abd", C, D)
    phi_prime = np.einsum("b,abd->ad", B, phi)
    printed = A[:, None] * phi_prime
    return Sides(truth=joint / joint.sum(0), printed=printed / printed.sum(0))


@equation(
    "33",
    section="8.2",
    latex=r"P(X|e) \propto P(X|e_X^+) P(e_X^-|X)",
)
def belief(rng: Generator) -> Sides:
    """The belief about a node combines the evidence upstream and downstream of it."""
    net = _network(rng)
    x = net.node
    to_children = {(x, child) for child in net.children(x)}
    to_parents = {(parent, x) for parent in net.parents[x]}
    up, down = net.side(x, to_children), net.side(x, to_parents)
    printed = _normalised(net.given(x, up) * net.likelihood(x, down))
    return Sides(truth=net.given(x, net.evidence), printed=printed)


@equation(
    "34 to 36",
    section="8.2",
    latex=r"\lambda(X) = P(e_X^-|X) = \prod_{j \in \text{ch}(X)} P(e_{XY_j}^-|X), \quad"
    r" \pi(X) = P(X|e_X^+) = \sum_{U_1 \ldots U_n} P(X|U_1, \ldots, U_n)"
    r" \prod_{i \in \text{pa}(X)} P(U_i|e_{U_i X}^+), \quad"
    r" \pi_{Y_j}(X) = P(X|e_{X Y_j}^+) \propto \left[ \prod_{k \neq j} P(e_{X Y_k}^-|X) \right]"
    r" \sum_{U_1, \ldots, U_n} P(X|U_1 \ldots U_n) \prod_i P(U_i|e_{U_i X}^+)",
)
def pearl_messages(rng: Generator) -> Sides:
    """The messages from the children, from the parents, and to a child of a node."""
    net = _network(rng)
    x, children = net.node, net.children(net.node)
    parents = net.parents[x]
    down = net.side(x, {(parent, x) for parent in parents})
    up = net.side(x, {(x, child) for child in children})
    child = int(rng.choice(children))
    likelihoods = {j: net.likelihood(x, net.below(x, j)) for j in children}
    prior = _sum_over_parents(net.tables[x], [net.given(u, net.above(u, x)) for u in parents])
    others = np.ones_like(prior)
    for k, likelihood in likelihoods.items():
        if k != child:
            others = others * likelihood
    return Sides(
        truth=(net.likelihood(x, down), net.given(x, up), net.given(x, net.above(x, child))),
        printed=(np.prod(list(likelihoods.values()), axis=0), prior, _normalised(others * prior)),
    )


@equation(
    "37",
    section="8.2",
    latex=r"\lambda_X(U_i) = P(e_{U_i X}^-|U_i) = \sum_X P(e_X^-|X) \sum_{U_k: k \neq i}"
    r" P(X|U_1 \ldots U_n) \prod_{k \neq i} P(U_k|e_{U_k X}^+)",
    corrected=r"\lambda_X(U_i) = P(e_{U_i X}^-|U_i) \propto \sum_X P(e_X^-|X) \sum_{U_k: k \neq i}"
    r" P(X|U_1 \ldots U_n) \prod_{k \neq i} P(U_k|e_{U_k X}^+)",
    cause="equal-for-proportional",
)
def message_to_parent(rng: Generator) -> Sides:
    """The message to a parent, where the printed form has an equality for a proportionality.

    The printed form holds where the other parents have no evidence upstream.
    """
    net = _network(rng)
    x, (u, *others) = net.node, net.parents[net.node]
    down = net.side(x, {(parent, x) for parent in net.parents[x]})
    by_parent = np.moveaxis(net.tables[x], 0, -1)  # (other parents, X, U_i)
    rest = _sum_over_parents(by_parent, [net.given(k, net.above(k, x)) for k in others])
    printed = net.likelihood(x, down) @ rest
    truth = net.likelihood(u, net.below(u, x))
    return Sides(truth=truth, printed=printed, corrected=printed * truth.sum() / printed.sum())


@equation(
    "39 to 41",
    section="8.3",
    latex=r"\mu_{x \rightarrow f}(x) = \prod_{h \in n(x) \setminus \{f\}} \mu_{h \rightarrow x}(x),"
    r" \quad \mu_{f \rightarrow x}(x) = \int f(\mathbf{x}) \prod_{y \in n(f) \setminus \{x\}}"
    r" \mu_{y \rightarrow f}(y) \, d\mathbf{x}_{\setminus x}, \quad"
    r" p(x) \propto \prod_{h \in n(x)} \mu_{h \rightarrow x}(x)",
)
def kalman_smoothing(rng: Generator) -> Sides:
    """Messages in the chain of the factors of a linear-Gaussian model, with integrals for sums.

    A factor exp(-x' J x / 2 + h' x) is (J, h). The other route is the Kalman smoother.
    """
    M, T = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    roots = rng.standard_normal((3, M, M))
    Gamma, V0, Sigma = (a @ a.T + 0.5 * np.eye(M) for a in roots)
    A, C, mu0 = 0.6 * rng.standard_normal((M, M)), rng.standard_normal((M, M)), rng.random(M)
    x = rng.standard_normal((T, M))
    theta = LDS(A=A, Gamma=Gamma, C=C, Sigma=Sigma, mu0=mu0, V0=V0)
    right = rts_smoother_reference(theta, kalman_filter_reference(theta, x)).state
    own = [(C.T @ np.linalg.solve(Sigma, C), C.T @ np.linalg.solve(Sigma, seen)) for seen in x]
    start = np.linalg.solve(V0, np.column_stack([np.eye(M), mu0]))
    move = np.hstack([-A, np.eye(M)])  # of a state and the next one
    link = move.T @ np.linalg.solve(Gamma, move)

    def message(J: Floats, h: Floats, inner: slice, outer: slice) -> tuple[Floats, Floats]:
        """The factor of two states, with the message of one of them, which is integrated out."""
        gain = np.linalg.solve(link[inner, inner] + J, np.column_stack([link[inner, outer], h])).T
        return link[outer, outer] - gain[:M] @ link[inner, outer], -link[outer, inner] @ gain[M]

    now, later = slice(0, M), slice(M, 2 * M)
    ahead, behind = [(start[:, :M], start[:, M])], [(np.zeros((M, M)), np.zeros(M))]
    for J, h in own[:-1]:
        ahead.append(message(ahead[-1][0] + J, ahead[-1][1] + h, now, later))
    for J, h in own[:0:-1]:
        behind.append(message(behind[-1][0] + J, behind[-1][1] + h, later, now))
    parts = zip(ahead, own, behind[::-1], strict=True)
    sums = [(J1 + J2 + J3, h1 + h2 + h3) for (J1, h1), (J2, h2), (J3, h3) in parts]
    covariance = [np.linalg.solve(J, np.eye(M)) for J, _ in sums]
    mean = [np.linalg.solve(J, h) for J, h in sums]
    return Sides(truth=(right.mean, right.cov), printed=(mean, covariance))


@equation(
    "42",
    section="8.5",
    latex=r"P(X|e) = \sum_c P(X|C = c, e) P(C = c|e)",
)
def cutset_average(rng: Generator) -> Sides:
    """Beliefs and weights from one run of messages for each value of C, in a ring of variables."""
    N, K = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    names = "abcdef"[:N]
    pairs = [(names[k], names[(k + 1) % N]) for k in range(N)]
    tables = [Factor(pair, rng.uniform(0.1, 2, (K, K))) for pair in pairs]
    C, X, e = rng.choice(list(names), 3, replace=False).tolist()
    tables.append(Factor((e,), np.eye(K)[rng.integers(K)]))
    beliefs, weights = [], []
    for c in range(K):
        rest = factor_graph([condition(table, {C: c}) for table in tables])
        product = marginal(rest, two_passes(rest, X), X)
        beliefs.append(product / product.sum())
        weights.append(product.sum())
    weights = list(np.array(weights) / sum(weights))
    printed = sum(belief * weight for belief, weight in zip(beliefs, weights, strict=True))
    scopes = ",".join("".join(table.variables) for table in tables)
    joint = np.einsum(f"{scopes}->{X}{C}", *(table.table for table in tables))
    both = joint / joint.sum()
    return Sides(truth=(both.sum(1), both.sum(0)), printed=(printed, weights))
