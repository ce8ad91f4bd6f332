r"""Trees of cliques, and messages between cliques (PRML 8.4.6; Ghahramani 8.4).

    m_{i->j} = sum over variables not in j of psi_i prod of all m_{k->i}, k != j   Shafer-Shenoy
    phi*_S = sum over variables not in S of psi_i;  psi_j <- psi_j phi*_S / phi_S  Hugin

Both give at each clique the sum of the joint over all other variables, if the variables shared by
two cliques are in all cliques between them: the running intersection property.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bythebook.models.graphs.elimination import induced
from bythebook.models.graphs.factors import SUM_PRODUCT, Factor, Semiring, keep, product, sizes
from bythebook.models.graphs.structure import Nodes, Undirected
from bythebook.models.types import Floats

Link = tuple[int, int]


class JunctionTree(NamedTuple):
    """Cliques, and the links of a tree of them."""

    cliques: list[Nodes]
    tree: list[Link]

    def separator(self, link: Link) -> Nodes:
        return self.cliques[link[0]] & self.cliques[link[1]]

    @property
    def weight(self) -> int:
        """The total number of nodes in the separators."""
        return sum(len(self.separator(link)) for link in self.tree)

    @property
    def runs(self) -> bool:
        """Whether the cliques that contain a node are connected, for every node."""
        for node in frozenset().union(*self.cliques):
            inner = [link for link in self.tree if node in self.separator(link)]
            if len(inner) != sum(node in clique for clique in self.cliques) - 1:
                return False
        return True

    def near(self, i: int) -> list[int]:
        return [a + b - i for a, b in self.tree if i in (a, b)]


def junction_tree(graph: Undirected, order: Iterable[int]) -> JunctionTree:
    """A spanning tree of the maximal cliques with the largest separators (PRML 8.4.6)."""
    found = induced(graph, order).maximal
    pairs = list(combinations(range(len(found)), 2))
    pairs.sort(key=lambda pair: -len(found[pair[0]] & found[pair[1]]))
    part = list(range(len(found)))
    tree = []
    for i, j in pairs:
        if part[i] != part[j]:
            tree.append((i, j))
            part = [part[i] if of == part[j] else of for of in part]
    return JunctionTree(found, tree)


def all_trees(cliques: list[Nodes]) -> Iterator[JunctionTree]:
    """Every tree that links some cliques, whether they overlap or not (small numbers only)."""
    pairs = list(combinations(range(len(cliques)), 2))
    for some in combinations(pairs, len(cliques) - 1):
        part = list(range(len(cliques)))
        for i, j in some:
            part = [part[i] if of == part[j] else of for of in part]
        if len(set(part)) == 1:
            yield JunctionTree(cliques, list(some))


class Calibrated(NamedTuple):
    """Tables of cliques and of separators at convergence of the messages."""

    cliques: list[Factor]
    separators: dict[Link, Factor]


def potentials(
    tree: JunctionTree,
    names: Sequence[str],
    factors: Sequence[Factor],
    ring: Semiring = SUM_PRODUCT,
) -> list[Factor]:
    """A table for each clique: the product of its factors, each factor in one clique."""
    states = sizes(factors)
    left, tables = list(factors), []
    for clique in tree.cliques:
        scope = [names[i] for i in sorted(clique)]
        own = [f for f in left if set(f.variables) <= set(scope)]
        left = [f for f in left if not set(f.variables) <= set(scope)]
        ones = Factor(tuple(scope), np.full([states[name] for name in scope], ring.one))
        tables.append(keep(product([ones, *own], ring), scope, ring))
    return tables


def schedule(tree: JunctionTree) -> list[Link]:
    """Sender and receiver of each message: towards the first clique, then away from it."""
    order = [(0, -1)]
    for i, before in order:
        order += [(j, i) for j in tree.near(i) if j != before]
    outward = [(before, i) for i, before in order[1:]]
    return [(j, i) for i, j in reversed(outward)] + outward


def _names(tree: JunctionTree, names: Sequence[str], link: Link) -> list[str]:
    return [names[i] for i in sorted(tree.separator(link))]


def shafer_shenoy(
    tree: JunctionTree,
    names: Sequence[str],
    factors: Sequence[Factor],
    ring: Semiring = SUM_PRODUCT,
) -> Calibrated:
    """Messages are stored, and each is computed from all other messages to its sender."""
    tables = potentials(tree, names, factors, ring)
    sent: dict[Link, Factor] = {}
    for i, j in schedule(tree):
        received = [sent[k, i] for k in tree.near(i) if k != j]
        sent[i, j] = keep(product([tables[i], *received], ring), _names(tree, names, (i, j)), ring)
    beliefs = [
        keep(product([table, *(sent[k, i] for k in tree.near(i))], ring), table.variables, ring)
        for i, table in enumerate(tables)
    ]
    between = {
        (i, j): keep(product([sent[i, j], sent[j, i]], ring), _names(tree, names, (i, j)), ring)
        for i, j in tree.tree
    }
    return Calibrated(beliefs, between)


def hugin(tree: JunctionTree, names: Sequence[str], factors: Sequence[Factor]) -> Calibrated:
    """Tables absorb messages divided by the old table of the separator; 0 / 0 is 0."""
    tables = potentials(tree, names, factors)
    known: dict[Link, Floats] = {link: np.ones(()) for link in tree.tree}
    for i, j in schedule(tree):
        link = (i, j) if (i, j) in known else (j, i)
        fresh = keep(tables[i], _names(tree, names, link))
        old = np.broadcast_to(known[link], fresh.table.shape)
        ratio = np.divide(fresh.table, old, out=np.zeros(old.shape), where=old != 0)
        tables[j] = keep(product([tables[j], Factor(fresh.variables, ratio)]), tables[j].variables)
        known[link] = fresh.table
    between = {link: Factor(tuple(_names(tree, names, link)), phi) for link, phi in known.items()}
    return Calibrated(tables, between)


def disagreement(found: Calibrated) -> float:
    """The largest difference between two cliques' marginals of one variable."""
    said: dict[str, list[Floats]] = {}
    for factor in found.cliques:
        for name in factor.variables:
            own = keep(factor, [name]).table
            said.setdefault(name, []).append(own / own.sum())
    return max(float(np.ptp(np.array(beliefs), axis=0).max()) for beliefs in said.values())
