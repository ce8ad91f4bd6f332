r"""Marginals of all variables of a product of tables, by each algorithm under one signature.

    method(tables, given, ring, rng) -> Answer

    p(x_i | e) ~ sum over all other variables of the product of the tables          MLAPP 20.51

The sum and the product are those of a semiring; observed variables are fixed by indicators.
`enumeration` sums over all configurations and uses no graph. The other methods send messages or
eliminate variables. What is arbitrary in them, such as a root or an order, is drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.chains.hmm import smoother
from bythebook.models.graphs import junction, propagation
from bythebook.models.graphs.collection import collect, distribute, hung
from bythebook.models.graphs.cutset import averaged, cases, cut
from bythebook.models.graphs.elimination import eliminate, min_fill
from bythebook.models.graphs.factors import (
    Factor,
    Semiring,
    clamp,
    condition,
    keep,
    product,
    scope,
    sizes,
)
from bythebook.models.graphs.pairwise import Field
from bythebook.models.graphs.polytree import Network, propagate, reverberate
from bythebook.models.graphs.structure import undirected
from bythebook.models.types import Floats

Tables = Sequence[Factor]
Given = Mapping[str, int]
MAX_MESSAGES = 10_000  # that are sent one by one
ECHOES = 30  # rounds of messages with the recipient's own


class Answer(NamedTuple):
    """The marginal of each variable, not normalised, and the messages that were sent."""

    marginals: dict[str, Floats]  # (states,)
    messages: int = 0
    repeats: int = 0  # the largest number of times that a message was sent
    pending: int = 0  # messages that were still to be sent at the end


def enumeration(tables: Tables, given: Given, ring: Semiring, rng: Generator) -> Answer:
    """Sums over all configurations of the variables that are not observed."""
    joint = product([condition(table, given) for table in tables], ring)
    found = {name: keep(joint, [name], ring).table for name in joint.variables}
    total = ring.plus.reduce(joint.table, axis=tuple(range(joint.table.ndim)))
    for name, state in given.items():
        found[name] = np.full(sizes(tables)[name], ring.zero)
        found[name][state] = total
    return Answer(found)


def elimination(tables: Tables, given: Given, ring: Semiring, rng: Generator) -> Answer:
    """Each variable after the elimination of all others, in a random order."""
    clamped, names = clamp(tables, given, ring), scope(tables)
    orders = {name: [x for x in rng.permutation(names).tolist() if x != name] for name in names}
    return Answer({x: eliminate(clamped, orders[x], ring).answer.table for x in names})


def two_passes(tables: Tables, given: Given, ring: Semiring, rng: Generator) -> Answer:
    """Messages from the leaves to a random root and back (PRML 8.4.4)."""
    graph, names = propagation.factor_graph(clamp(tables, given, ring)), scope(tables)
    sent = propagation.two_passes(graph, names[int(rng.integers(len(names)))], ring)
    found = {x: propagation.marginal(graph, sent, x, ring) for x in names}
    return Answer(found, len(sent), 1)


def one_by_one(
    tables: Tables, given: Given, ring: Semiring, rng: Generator, *, waiting: bool
) -> Answer:
    """Pending messages in a random order (PRML 8.4.7)."""
    graph = propagation.factor_graph(clamp(tables, given, ring))
    sent = propagation.one_by_one(graph, rng, MAX_MESSAGES, waiting=waiting)
    found = {x: propagation.marginal(graph, sent.messages, x) for x in scope(tables)}
    times = sent.times.values()
    return Answer(found, sum(times), max(times), sent.pending)


def collect_and_distribute(
    tables: Tables, given: Given, ring: Semiring, rng: Generator, *, dividing: bool
) -> Answer:
    """Beliefs collected at a random root and distributed (MLAPP 20.2.1)."""
    names = scope(tables)
    nodes, links, edges = np.ones((len(names), *tables[0].table.shape[:1])), [], []
    for factor in clamp(tables, given, ring):
        ends = [names.index(name) for name in factor.variables]
        if len(ends) == 1:
            nodes[ends[0]] *= factor.table
        else:
            links.append(ends)
            edges.append(factor.table)
    field = Field(nodes, np.array(links), np.array(edges))
    order = hung(field, int(rng.integers(len(names))))
    belief = distribute(field, order, collect(field, order), dividing=dividing).belief
    return Answer(dict(zip(names, belief, strict=True)), 2 * len(links), 1)


def pearl(tables: Tables, given: Given, ring: Semiring, rng: Generator, *, echo: int = 0) -> Answer:
    """Lambda and pi messages (Ghahramani 8.2); with `echo`, so many rounds with echoes."""
    network = Network(tables, given)
    sent = reverberate(network, echo) if echo else propagate(network)
    found = {x: network.belief(sent, x) for x in network.tables}
    rounds = max(1, echo)
    return Answer(found, 2 * len(network.links) * rounds, rounds)


def junction_tree(
    tables: Tables, given: Given, ring: Semiring, rng: Generator, *, hugin: bool
) -> Answer:
    """Messages in a tree of cliques (Ghahramani 8.4; PRML 8.4.6)."""
    names, clamped = scope(tables), clamp(tables, given, ring)
    pairs = [pair for table in tables for pair in combinations(table.variables, 2)]
    graph = undirected(len(names), [(names.index(a), names.index(b)) for a, b in pairs])
    tree = junction.junction_tree(graph, min_fill(graph))
    if hugin:
        cliques = junction.hugin(tree, names, clamped).cliques
    else:
        cliques = junction.shafer_shenoy(tree, names, clamped, ring).cliques
    found = {x: keep(clique, [x], ring).table for clique in cliques for x in clique.variables}
    return Answer(found, 2 * len(tree.tree), 1)


def cutset_conditioning(tables: Tables, given: Given, ring: Semiring, rng: Generator) -> Answer:
    """Messages for each value of a smallest set of variables that leaves no loop, averaged.

    P(x | e) = sum over c of P(x | c, e) P(c | e)                                 Ghahramani 42
    """
    clamped, names = clamp(tables, given, ring), rng.permutation(scope(tables)).tolist()
    cutsets = (some for n in range(len(names)) for some in combinations(names, n))
    cutset = next(some for some in cutsets if not cut(clamped, some).loops)
    found = cases(clamped, cutset)
    states = sizes(tables)
    weights = np.reshape([case.weight for case in found], [states[name] for name in cutset])
    others = tuple(range(len(cutset)))
    marginals = {x: averaged(found, x) for x in names if x not in cutset}
    for k, name in enumerate(cutset):
        marginals[name] = weights.sum(tuple(n for n in others if n != k))
    return Answer(marginals, len(found) * len(cut(clamped, cutset).links), len(found))


def forward_backward(tables: Tables, given: Given, ring: Semiring, rng: Generator) -> Answer:
    """The algorithm for hidden Markov models: z1, z2 | z1, ... and observed x1 | z1, ... ."""
    start, moves = tables[0], [t for t in tables[1:] if t.variables[1] not in given]
    if any(not np.array_equal(move.table, moves[0].table) for move in moves):
        raise ValueError("the transitions of a hidden Markov model are equal at all steps")
    z = [*start.variables, *(move.variables[1] for move in moves)]
    seen = {t.variables[0]: condition(t, given).table for t in tables if t.variables[-1] in given}
    log_likelihoods = np.log([seen[name] for name in z])
    found = smoother(start.table, moves[0].table, log_likelihoods).smoothed
    observed = {x: np.eye(len(start.table))[state] for x, state in given.items()}
    return Answer(dict(zip(z, found, strict=True)) | observed, 2 * len(moves), 1)


def _any(tables: Tables, given: Given) -> bool:
    return True


def _tree(tables: Tables, given: Given) -> bool:
    return propagation.factor_graph(tables).is_tree


def _tree_of_pairs(tables: Tables, given: Given) -> bool:
    return _tree(tables, given) and all(len(table.variables) <= 2 for table in tables)


def _directed_tree(tables: Tables, given: Given) -> bool:
    """Whether each variable has one table, as its last variable."""
    children = [table.variables[-1] for table in tables]
    return _tree(tables, given) and len({*children}) == len(children) == len(scope(tables))


def _hidden_markov_model(tables: Tables, given: Given) -> bool:
    """Whether the hidden variables are a chain and each of them has one observed child."""
    z = [t.variables for t in tables if t.variables[-1] not in given]
    seen = [t.variables[:-1] for t in tables if t.variables[-1] in given]
    chain = [own[:-1] for own in z] == [(), *(own[-1:] for own in z[:-1])]
    return chain and sorted(seen) == sorted(own[-1:] for own in z)


class Method(NamedTuple):
    """An algorithm, whether it takes any semiring, and what tables it needs."""

    run: Callable[[Tables, Given, Semiring, Generator], Answer]
    any_ring: bool = False
    suits: Callable[[Tables, Given], bool] = _any


METHODS = {
    "enumeration": Method(enumeration, any_ring=True),
    "elimination": Method(elimination, any_ring=True),
    "two passes": Method(two_passes, any_ring=True, suits=_tree),
    "one by one, waiting": Method(partial(one_by_one, waiting=True), suits=_tree),
    "one by one, from ones": Method(partial(one_by_one, waiting=False), suits=_tree),
    "collect and distribute": Method(
        partial(collect_and_distribute, dividing=False), suits=_tree_of_pairs
    ),
    "collect and divide": Method(
        partial(collect_and_distribute, dividing=True), suits=_tree_of_pairs
    ),
    "Shafer-Shenoy": Method(partial(junction_tree, hugin=False), any_ring=True),
    "Hugin": Method(partial(junction_tree, hugin=True)),
    "cutset conditioning": Method(cutset_conditioning),
    "lambda and pi": Method(pearl, suits=_directed_tree),
    "lambda and pi, echoed": Method(partial(pearl, echo=ECHOES), suits=_directed_tree),
    "forward-backward": Method(forward_backward, suits=_hidden_markov_model),
}
