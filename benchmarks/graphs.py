"""Graphical models: posteriors in networks, many queries at once, messages on a lattice."""

from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Contest
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.pairwise import Field, beliefs, grid, rounds
from bythebook.models.graphs.queries import Queries
from bythebook.models.types import Ints

Way = Callable[[], Answer]
Cases = dict[str, Ints]  # observed states, one array per variable

ROUNDS = 50


def network(N: int) -> list[Factor]:
    """N binary nodes, each with up to three parents among the four before it."""
    rng = np.random.default_rng(0)
    tables = []
    for k in range(N):
        near = rng.permutation(range(max(0, k - 4), k))[: rng.integers(4)]
        parents = [f"x{p}" for p in sorted(near)]
        tables.append(Factor((*parents, f"x{k}"), rng.dirichlet([1, 1], [2] * len(parents))))
    return tables


def observations(N: int, count: int) -> Cases:
    """Every eighth node, in states drawn at random."""
    rng = np.random.default_rng(1)
    return {f"x{k}": rng.integers(0, 2, count) for k in range(3, N, 8)}


def once(peer: Callable[[list[Factor], Cases], Way], size: int) -> Contest:
    """One observation; both find the elimination order within the timing."""
    tables, given = network(size), observations(size, 1)

    def ours() -> Answer:
        return Queries(tables, list(given)).posteriors(given)

    return Contest(ours, peer(tables, given))


def prepared(peer: Callable[[list[Factor], Cases], Way], size: int, count: int = 1) -> Contest:
    """Observations of the same nodes; both build the junction trees before the timing."""
    tables, given = network(size), observations(size, count)
    model = Queries(tables, list(given))

    def ours() -> Answer:
        return model.posteriors(given)

    return Contest(ours, peer(tables, given))


def many(peer: Callable[[list[Factor], Cases], Way], size: int) -> Contest:
    return prepared(peer, 30, size)


def _hidden(tables: list[Factor], given: Cases) -> list[str]:
    return [f.variables[-1] for f in tables if f.variables[-1] not in given]


def pgmpy_elimination(tables: list[Factor], given: Cases) -> Way:
    """One query per node, because a query for all nodes takes minutes."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    theirs = DiscreteBayesianNetwork(
        [(p, f.variables[-1]) for f in tables for p in f.variables[:-1]]
    )
    theirs.add_nodes_from([f.variables[-1] for f in tables])
    for f in tables:
        *parents, name = f.variables
        sizes = [2] * len(parents)
        theirs.add_cpds(TabularCPD(name, 2, f.table.reshape(-1, 2).T, parents, sizes))
    engine = VariableElimination(theirs)
    rows = [
        dict(zip(given, map(int, row), strict=True)) for row in zip(*given.values(), strict=True)
    ]

    def run() -> Answer:
        return {
            name: [engine.query([name], row, show_progress=False).values for row in rows]
            for name in _hidden(tables, given)
        }

    return run


def pyagrum_lazy(tables: list[Factor], given: Cases) -> Way:
    """The exact C++ engine of pyAgrum; the evidence changes and the engine is reused."""
    import pyagrum

    theirs = pyagrum.BayesNet()
    for f in tables:
        theirs.add(pyagrum.LabelizedVariable(f.variables[-1], "", 2))
    for f in tables:
        for parent in f.variables[:-1]:
            theirs.addArc(parent, f.variables[-1])
        table = theirs.cpt(f.variables[-1])
        for at in np.ndindex(*f.table.shape):
            table[dict(zip(f.variables, at, strict=True))] = float(f.table[at])
    engine = pyagrum.LazyPropagation(theirs)
    rows = [
        dict(zip(given, map(int, row), strict=True)) for row in zip(*given.values(), strict=True)
    ]
    hidden = _hidden(tables, given)

    def run() -> Answer:
        found: dict[str, list[Any]] = {name: [] for name in hidden}
        for row in rows:
            engine.setEvidence(row)
            engine.makeInference()
            for name in hidden:
                found[name].append(engine.posterior(name).toarray())
        return found

    return run


def lattice(size: int) -> Contest:
    """Rounds of messages on a square lattice of binary nodes, and their beliefs."""
    side = round(size**0.5)
    rng = np.random.default_rng(2)
    links, x = grid(side, side), np.array([-1.0, 1.0])
    h, J = rng.normal(0, 0.5, (side**2, 1)), rng.normal(0, 0.3, (len(links), 1, 1))
    field = Field(np.exp(h * x), links, np.exp(J * np.multiply.outer(x, x)))

    def ours() -> Answer:
        return {"beliefs": beliefs(field, next(islice(rounds(field), ROUNDS, None)))}

    return Contest(
        ours, pomegranate_factors(field), tolerance=1e-5, why="pomegranate has single precision."
    )


def pomegranate_factors(field: Field) -> Way:
    """pomegranate with factors of pairs and nodes, and the same number of iterations."""

    @cache
    def made() -> tuple[Any, Any]:
        """The graph of pomegranate, built before the timing."""
        import torch
        from pomegranate.distributions import Categorical, JointCategorical
        from pomegranate.factor_graph import FactorGraph

        theirs = FactorGraph(max_iter=ROUNDS)
        theirs.tol = -1.0  # run all rounds: its divergence estimate can be negative
        nodes = [Categorical([[0.5, 0.5]]) for _ in field.nodes]
        for node in nodes:
            theirs.add_marginal(node)
        for own, node in zip(field.nodes, nodes, strict=True):
            factor = Categorical([(own / own.sum()).tolist()])
            theirs.add_factor(factor)
            theirs.add_edge(node, factor)
        for (s, t), table in zip(field.links, field.tables, strict=True):
            factor = JointCategorical((table / table.sum()).tolist())
            theirs.add_factor(factor)
            theirs.add_edge(nodes[s], factor)
            theirs.add_edge(nodes[t], factor)
        unseen = torch.zeros(1, len(nodes), dtype=torch.int64)
        return theirs, torch.masked.MaskedTensor(unseen, mask=torch.zeros_like(unseen).bool())

    def run() -> Answer:
        theirs, unseen = made()
        return {"beliefs": np.array([p[0].numpy() for p in theirs.predict_proba(unseen)])}

    return run


EXACT: dict[str, Any] = {
    "name": "posteriors of all nodes of a network",
    "size": 30,
    "unit": "binary nodes, every eighth observed",
    "sizes": (20, 25, 30, 35, 40),
}
MANY: dict[str, Any] = {
    "name": "posteriors of all nodes of a network of 30, many observations",
    "size": 1000,
    "unit": "observations at once",
    "sizes": (1000, 2000, 4000, 8000),
}
CASES: list[Case] = [
    Case(
        **EXACT,
        peer="pgmpy, elimination",
        package="pgmpy",
        goal=20,
        make=partial(once, pgmpy_elimination),
        note="Ours finds its junction tree within the clock; pgmpy an order for each node.",
    ),
    Case(
        **EXACT,
        peer="pyAgrum, lazy propagation",
        package="pyagrum",
        goal=1,
        make=partial(prepared, pyagrum_lazy),
        note="C++. Both keep their junction trees; evidence is new.",
    ),
    Case(
        **MANY,
        peer="pgmpy, elimination",
        package="pgmpy",
        goal=20,
        make=partial(many, pgmpy_elimination),
        peer_size=5,
        note="A call a query and node; timed on five observations.",
    ),
    Case(
        **MANY,
        peer="pyAgrum, lazy propagation",
        package="pyagrum",
        goal=1,
        make=partial(many, pyagrum_lazy),
        peer_size=100,
        note="New evidence for each; timed on a hundred observations.",
    ),
    Case(
        f"loopy belief propagation on a lattice, {ROUNDS} rounds",
        "pomegranate",
        goal=10,
        make=lattice,
        size=10_000,
        unit="nodes",
        package="pomegranate",
        sizes=(2500, 10_000, 40_000, 160_000),
        peer_size=100,
        rounds=3,
        note="pgmpy has no messages for graphs with loops. pomegranate is timed on 10 x 10.",
    ),
]
