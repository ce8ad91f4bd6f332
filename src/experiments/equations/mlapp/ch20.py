"""Equations of MLAPP 20.2 and 20.3: belief propagation on trees, and variable elimination."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._trees import FactorTree, product, random_factor_tree
from bythebook.models.chains.hmm import smoother
from bythebook.models.types import Floats


class _Tree(NamedTuple):
    """A tree of nodes 1, 2, ... below node 0, with local evidence and edge potentials."""

    parent: list[int]  # of each node; of the root, -1
    local: list[Floats]  # psi_t
    edges: list[Floats]  # psi_st (states of the parent t, states of the node s)

    def children(self, t: int) -> list[int]:
        return [s for s, parent in enumerate(self.parent) if parent == t]

    def below(self, t: int) -> list[int]:
        """The nodes at or below a node."""
        return [t, *(node for c in self.children(t) for node in self.below(c))]

    def marginal(self, t: int, nodes: list[int]) -> Floats:
        """The sum of the product of some nodes' potentials over all of them but t."""
        letters = "abcdefgh"
        scopes, tables = [letters[s] for s in nodes], [self.local[s] for s in nodes]
        for s in nodes:
            if self.parent[s] in nodes:
                scopes.append(letters[self.parent[s]] + letters[s])
                tables.append(self.edges[s])
        return np.asarray(np.einsum(f"{','.join(scopes)}->{letters[t]}", *tables))

    def up(self, t: int) -> tuple[Floats, float]:
        """The bottom-up belief at a node and its normaliser Z_t (20.2)."""
        table = self.local[t]
        for c in self.children(t):
            table = table * self.message_up(c)
        return table / table.sum(), float(table.sum())

    def message_up(self, s: int) -> Floats:
        """The message of a node to its parent (20.3)."""
        return np.asarray(self.edges[s] @ self.up(s)[0])

    def message_down(self, s: int) -> Floats:
        """The message of the parent to a node, by products (20.8)."""
        t = self.parent[s]
        table = self.local[t]
        for c in self.children(t):
            if c != s:
                table = table * self.message_up(c)
        if self.parent[t] >= 0:
            table = table * self.message_down(t)
        return np.asarray(table @ self.edges[s])


def _tree(rng: Generator) -> _Tree:
    size = int(rng.integers(4, 8))
    parent = [-1, *(int(rng.integers(s)) for s in range(1, size))]
    states = rng.integers(2, 4, size)
    local = [rng.uniform(0.1, 2, n) for n in states]
    edges = [rng.uniform(0.1, 2, (states[t], states[s])) for s, t in enumerate(parent)]
    return _Tree(parent, local, edges)


def _normalised(table: Floats) -> Floats:
    return np.asarray(table / table.sum())


@equation(
    "20.2 to 20.4",
    section="20.2.1",
    latex=r"\text{bel}_t^-(x_t) = p(x_t|\mathbf{v}_t^-) = \frac{1}{Z_t} \psi_t(x_t)"
    r" \prod_{c \in \text{ch}(t)} m_{c \rightarrow t}^-(x_t), \quad"
    r" m_{s \rightarrow t}^-(x_t) = \sum_{x_s} \psi_{st}(x_s, x_t) \text{bel}_s^-(x_s)",
)
def upward_belief(rng: Generator) -> Sides:
    """A bottom-up belief is the posterior given the evidence at or below its node, or the root."""
    tree = _tree(rng)
    t = int(rng.choice([t for t in range(len(tree.parent)) if tree.children(t)]))
    return Sides(truth=_normalised(tree.marginal(t, tree.below(t))), printed=tree.up(t)[0])


@equation(
    "20.5",
    section="20.2.1",
    latex=r"p(\mathbf{v}) = \prod_t Z_t",
)
def local_normalisers(rng: Generator) -> Sides:
    """The product of the local normalisers is the probability of the evidence.

    The edges are conditional tables, the local terms are likelihoods, and the root has a prior.
    """
    tree = _tree(rng)
    edges = [edge / edge.sum(1, keepdims=True) for edge in tree.edges]
    local = [_normalised(tree.local[0]) * rng.uniform(0, 1, len(tree.local[0])), *tree.local[1:]]
    tree = tree._replace(local=local, edges=edges)
    nodes = range(len(tree.parent))
    return Sides(
        truth=tree.marginal(0, list(nodes)).sum(),
        printed=np.prod([tree.up(t)[1] for t in nodes]),
    )


@equation(
    "20.6, 20.8",
    section="20.2.1",
    latex=r"\text{bel}_s(x_s) \propto \text{bel}_s^-(x_s) \prod_{t \in \text{pa}(s)}"
    r" m_{t \rightarrow s}^+(x_s), \quad m_{t \rightarrow s}^+(x_s) = \sum_{x_t} \psi_{st}(x_s,"
    r" x_t) \psi_t(x_t) \prod_{c \in \text{ch}(t), c \neq s} m_{c \rightarrow t}^-(x_t)"
    r" \prod_{p \in \text{pa}(t)} m_{p \rightarrow t}^+(x_t)",
)
def top_down_messages(rng: Generator) -> Sides:
    """A bottom-up belief times the message from the parent is the posterior marginal."""
    tree = _tree(rng)
    s = int(rng.integers(1, len(tree.parent)))
    printed = _normalised(tree.up(s)[0] * tree.message_down(s))
    everything = list(range(len(tree.parent)))
    return Sides(truth=_normalised(tree.marginal(s, everything)), printed=printed)


@equation(
    "20.7",
    section="20.2.1",
    latex=r"m_{t \rightarrow s}^+(x_s) = p(x_s|\mathbf{v}_{st}^+) = \sum_{x_t} \psi_{st}(x_s, x_t)"
    r" \frac{\text{bel}_t(x_t)}{m_{s \rightarrow t}^-(x_t)}",
    corrected=r"m_{t \rightarrow s}^+(x_s) = p(x_s|\mathbf{v}_{st}^+) \propto \sum_{x_t}"
    r" \psi_{st}(x_s, x_t) \frac{\text{bel}_t(x_t)}{m_{s \rightarrow t}^-(x_t)}",
    cause="message-equal-to-a-sum",
)
def messages_by_division(rng: Generator) -> Sides:
    """The message from a parent, from its belief divided by the message that it received.

    The belief and the other route, the posterior without the part below, are sums over all
    configurations.
    """
    tree = _tree(rng)
    s, everything = int(rng.integers(1, len(tree.parent))), list(range(len(tree.parent)))
    t = tree.parent[s]
    belief = _normalised(tree.marginal(t, everything))
    printed = (belief / tree.message_up(s)) @ tree.edges[s]
    rest = [node for node in everything if node not in tree.below(s)]
    truth = _normalised(tree.marginal(t, rest) @ tree.edges[s])
    return Sides(truth=truth, printed=printed, corrected=_normalised(printed))


def _chain(rng: Generator) -> _Tree:
    """A chain with the same transition table at every edge, and local evidence."""
    size, K = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    moves = rng.dirichlet(np.ones(K), K)
    local = [rng.uniform(0.1, 2, K) for _ in range(size)]
    return _Tree(list(range(-1, size - 1)), local, [moves] * size)


def _messages_down(tree: _Tree) -> list[Floats]:
    """The messages from the parent of each node of a chain (20.9); the root has ones."""
    messages = [np.ones(len(tree.local[0]))]
    for s in range(1, len(tree.parent)):
        messages.append((tree.local[s - 1] * messages[s - 1]) @ tree.edges[s])
    return messages


@equation(
    "20.9",
    section="20.2.1",
    latex=r"m_{t \rightarrow s}^+(x_s) = \sum_{x_t} \psi_{st}(x_s, x_t) \psi_t(x_t)"
    r" m_{p \rightarrow t}^+(x_t)",
)
def chain_message(rng: Generator) -> Sides:
    """The message from above in a chain, without messages from below, against that by division.

    The message by division (20.7) is made of the posterior, which depends on everything below.
    """
    tree = _chain(rng)
    s, everything = int(rng.integers(1, len(tree.parent))), list(range(len(tree.parent)))
    truth = (tree.marginal(s - 1, everything) / tree.message_up(s)) @ tree.edges[s]
    return Sides(truth=_normalised(truth), printed=_normalised(_messages_down(tree)[s]))


@equation(
    "section 20.2, of chains",
    section="20.2",
    latex=r"\text{bel}_s(x_s) \propto \text{bel}_s^-(x_s) m_{t \rightarrow s}^+(x_s) ="
    r" p(x_s|\mathbf{v})",
)
def beliefs_of_chains(rng: Generator) -> Sides:
    """On a chain the beliefs are the posteriors of the forwards-backwards algorithm."""
    tree = _chain(rng)
    prior = rng.dirichlet(np.ones(len(tree.local[0])))
    smoothed = smoother(prior, tree.edges[0], np.log(tree.local)).smoothed
    tree.local[0] = tree.local[0] * prior
    down = _messages_down(tree)
    printed = [_normalised(tree.up(s)[0] * down[s]) for s in range(len(tree.parent))]
    return Sides(truth=smoothed, printed=printed)


@equation(
    "20.10, 20.11",
    section="20.2.2",
    latex=r"\text{bel}_s(x_s) \propto \psi_s(x_s) \prod_{t \in \text{nbr}_s}"
    r" m_{t \rightarrow s}(x_s), \quad m_{s \rightarrow t}(x_t) = \sum_{x_s} \left("
    r" \psi_s(x_s) \psi_{st}(x_s, x_t) \prod_{u \in \text{nbr}_s \setminus t}"
    r" m_{u \rightarrow s}(x_s) \right)",
)
def parallel_messages(rng: Generator) -> Sides:
    """The belief after T rounds is the posterior in the part of the tree that is T steps away."""
    tree = _tree(rng)
    links = {(t, s): tree.edges[s] for s, t in enumerate(tree.parent) if t >= 0}
    links |= {(s, t): table.T for (t, s), table in links.items()}
    messages = {(s, t): np.ones(len(tree.local[t])) for s, t in links}
    s = int(rng.integers(len(tree.parent)))
    inside = [s]
    for _ in range(int(rng.integers(len(tree.parent)))):
        inside += [t for u, t in links if u in inside and t not in inside]
        messages = {
            (s, t): np.prod(
                [tree.local[s], *(m for (u, to), m in messages.items() if to == s and u != t)],
                axis=0,
            )
            @ table
            for (s, t), table in links.items()
        }
    arriving = [m for (_, to), m in messages.items() if to == s]
    return Sides(
        truth=_normalised(tree.marginal(s, inside)),
        printed=_normalised(tree.local[s] * np.prod(arriving, axis=0)),
    )


@equation(
    "20.37",
    section="20.2.4",
    latex=r"\xi_{t,t+1}(i, j) = \alpha_t(i) \psi_{t+1}(j) \beta_{t+1}(j) \psi_{t,t+1}(i, j)",
    corrected=r"\xi_{t,t+1}(i, j) \propto \alpha_t(i) \psi_{t+1}(j) \beta_{t+1}(j)"
    r" \psi_{t,t+1}(i, j)",
    cause="two-slice-equality",
)
def two_slice(rng: Generator) -> Sides:
    """The distribution of two neighbouring states of a hidden Markov model, given all data."""
    K, T = int(rng.integers(2, 5)), int(rng.integers(3, 6))
    prior, moves = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K)
    likelihood = rng.uniform(0.1, 1, (T, K))
    t = int(rng.integers(T - 1))
    letters = "abcdef"[:T]
    scopes = [letters[0], *(letters[k : k + 2] for k in range(T - 1)), *letters]
    tables = [prior, *[moves] * (T - 1), *likelihood]
    both = np.einsum(f"{','.join(scopes)}->{letters[t : t + 2]}", *tables)
    alpha = prior * likelihood[0]
    for k in range(1, t + 1):
        alpha = likelihood[k] * (alpha / alpha.sum() @ moves)
    beta = np.ones(K)
    for k in range(T - 1, t + 1, -1):
        beta = moves @ (likelihood[k] * beta)
    printed = (alpha / alpha.sum())[:, None] * likelihood[t + 1] * beta * moves
    return Sides(truth=both / both.sum(), printed=printed, corrected=printed / printed.sum())


@equation(
    "20.52",
    section="20.3.1",
    latex=r"\mathbf{x}^* = \operatorname{argmax}_{\mathbf{x}} \prod_c \psi_c(\mathbf{x}_c)",
)
def traceback(rng: Generator) -> Sides:
    """Elimination by maxima with a traceback finds the configuration of the largest product.

    The variables are eliminated in a random order; the other route is a search of the table.
    """
    graph = random_factor_tree(rng)
    factors = list(zip(graph.scopes, graph.tables, strict=True))
    records = []
    for v in rng.permutation(len(graph.sizes)).tolist():
        own = [factor for factor in factors if v in factor[0]]
        factors = [factor for factor in factors if v not in factor[0]]
        scope = sorted({u for names, _ in own for u in names})
        merged = _merged(graph, scope, own)
        records.append((v, scope, merged))
        rest = tuple(u for u in scope if u != v)
        factors.append((rest, merged.max(scope.index(v))))
    setting: dict[int, int] = {}
    for v, scope, merged in reversed(records):
        place = tuple(setting.get(u, slice(None)) for u in scope)
        setting[v] = int(np.argmax(merged[place]))
    table = product(graph)
    return Sides(
        truth=np.unravel_index(int(table.argmax()), table.shape),
        printed=tuple(setting[v] for v in range(len(graph.sizes))),
    )


def _merged(
    graph: FactorTree, scope: list[int], factors: list[tuple[tuple[int, ...], Floats]]
) -> Floats:
    """The product of some tables, with the axes of `scope`, which is sorted."""
    merged = np.ones([graph.sizes[u] for u in scope])
    for names, table in factors:
        shape = [graph.sizes[u] if u in names else 1 for u in scope]
        merged = merged * table.transpose(np.argsort(names)).reshape(shape)
    return merged


@equation(
    "20.53",
    section="20.3.1",
    latex=r"(a \times b) + (a \times c) = a \times (b + c)",
)
def semiring_axioms(rng: Generator) -> Sides:
    """The four structures of Table 20.2 are commutative semirings.

    The neutral elements, commutativity, associativity, and the distributive law.
    """
    left, right = [], []
    for plus, zero, times, one, logical in (
        (np.add, 0, np.multiply, 1, False),
        (np.maximum, 0, np.multiply, 1, False),
        (np.minimum, np.inf, np.add, 0, False),
        (np.logical_or, False, np.logical_and, True, True),
    ):
        a, b, c = rng.random((3, 20)) > 0.5 if logical else rng.uniform(0, 5, (3, 20))
        left += [plus(a, zero), times(a, one), plus(a, b), times(a, b)]
        right += [a, a, plus(b, a), times(b, a)]
        left += [plus(plus(a, b), c), times(times(a, b), c), plus(times(a, b), times(a, c))]
        right += [plus(a, plus(b, c)), times(a, times(b, c)), times(a, plus(b, c))]
    return Sides(truth=right, printed=left)
