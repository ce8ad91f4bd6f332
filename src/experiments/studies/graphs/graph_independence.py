"""Independences stated by graphs, and tests on distributions (PRML 8.2, 8.3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._named import Named, named
from bythebook.models.graphs.independence import (
    clique_of,
    clique_potentials,
    dependence,
    directed_joint,
    directed_tables,
    joint_of,
    spread_of_conditional,
    undirected_joint,
)
from bythebook.models.graphs.structure import (
    Dag,
    Nodes,
    Undirected,
    blanket,
    children,
    cliques,
    d_separated,
    d_separated_by_paths,
    dag,
    links,
    moral,
    order,
    skeleton,
    stated,
    stated_undirected,
    statements,
)
from bythebook.models.types import Floats

THREE = {"fork": "c -> a, c -> b", "chain": "a -> c, c -> b", "collider": "a -> c, b -> c"}


def parsed_statement(text: str) -> tuple[str, list[str], list[str], list[str]]:
    """Split "graph: a, b | c" into a name and three sets; "a d, b" has two nodes in the first."""
    name, _, rest = text.partition(":")
    pair, _, given = rest.partition("|")
    one, _, other = pair.partition(",")
    return name.strip(), one.split(), other.split(), given.replace(",", " ").split()


@dataclass
class GraphIndependence(Study):
    """Independence statements tested on graphs, on all paths and on drawn distributions (PRML 8.2).

    For each graph of up to four nodes also the number of graphs of either type with the same
    statements, for up to six nodes the number of statements about pairs. For random graphs: whether
    distributions on directed ones have the stated independences and no others, whether a Markov
    blanket is sufficient and minimal, whether tables fit into cliques of the moral graph, and the
    dependences in undirected ones.
    """

    headline = {"dependence": "max(dependence)"}
    more_quantities = True
    quantities = {
        "dependence": quantity(
            "dependence of two sets of variables in a drawn distribution", "statement draw"
        ),
    }

    graphs: dict[str, str] = knob(
        {}, "by name: 'a -> b, ...' directed, 'a - b, ...' undirected; none: three small ones"
    )
    statements: list[str] = knob(
        ["fork: a, b | c", "chain: a, b | c", "collider: a, b"],
        "'graph: a, b | c', nodes of a set without commas: 'graph: a d, b'",
        distinct=True,
    )
    states: int = knob(2, "states of each variable", at_least=2, at_most=4)
    draws: int = knob(50, "distributions drawn on each graph", at_least=1, at_most=10_000)
    random_nodes: int = knob(0, "nodes of random graphs; 0: none", at_least=0, at_most=6)
    random_graphs: int = knob(20, "how many of them", at_least=1, at_most=1000)

    @property
    def known(self) -> dict[str, Named]:
        return {name: named(text) for name, text in (self.graphs or THREE).items()}

    def problems(self) -> Iterator[str]:
        known = self.known
        for name, found in known.items():
            if not 2 <= len(found.nodes) <= 15 or (found.directed and order(found.graph) is None):
                yield f"study.graphs: '{name}'; allowed: 2 to 15 nodes without a directed cycle"
        for text in self.statements:
            name, one, other, given = parsed_statement(text)
            if name not in known:
                yield f"study.statements: '{text}'; allowed: graphs {', '.join(known)}"
            elif not one or not other or not {*one, *other, *given} <= set(known[name].nodes):
                nodes = ", ".join(known[name].nodes)
                yield f"study.statements: '{text}'; allowed: two sets and a third of {nodes}"
            elif len({*one, *other, *given}) < len(one + other + given):
                yield f"study.statements: '{text}'; allowed: every node once"

    def run(self, rng: Generator) -> Outcome:
        known = self.known
        statement, draw = axis("statement", self.statements), axis("draw", self.draws)
        joints = {
            n: [g.joint(self.states, rng) for _ in range(self.draws)] for n, g in known.items()
        }
        stated_, blocked, gaps = [], [], []
        for text in self.statements:
            name, *parts = parsed_statement(text)
            sets = [known[name].set(part) for part in parts]
            stated_.append(known[name].separates(*sets))
            blocked.append(known[name].blocks(*sets))
            gaps.append([dependence(joint, *sets) for joint in joints[name]])
        return Outcome(
            **_conditionals(known, joints),
            separated=statement.of(stated_),
            blocked=statement.of(blocked),
            dependence=over(gaps, statement, draw),
            **_described(known),
            **self._partitions(rng),
            **(self._theorem(rng) if self.random_nodes else {}),
        )

    def _partitions(self, rng: Generator) -> dict[str, Quantity]:
        """Z of the directed graphs' tables as clique potentials of their moral graphs."""
        directed = {n: one for n, one in self.known.items() if one.directed and len(one.nodes) <= 8}
        if not directed:
            return {}
        found = [
            [_in_cliques(one.graph, self.states, rng)["partition"] for _ in range(self.draws)]
            for one in directed.values()
        ]
        axes = axis("directed_graph", list(directed)), axis("draw", self.draws)
        return {"table_partition": over(found, *axes)}

    def _theorem(self, rng: Generator) -> dict[str, Quantity]:
        """Random graphs of both kinds and one distribution on each."""
        M, number = self.random_nodes, axis("random_graph", self.random_graphs)
        found: dict[str, list[float]] = {}
        for _ in range(self.random_graphs):
            graph = _random_dag(M, rng)
            joint = directed_joint(graph, self.states, rng)
            checks = {**_held(graph, joint), **_blankets(graph, joint)}
            checks |= _in_cliques(graph, self.states, rng) | _homes(graph)
            checks |= _neighbours(skeleton(_random_dag(M, rng)), self.states, rng)
            for name, value in checks.items():
                found.setdefault(name, []).append(value)
        return {name: number.of(values) for name, values in found.items()}


def _described(known: Mapping[str, Named]) -> dict[str, Quantity]:
    """Recorded quantities of each graph and of each of its nodes."""
    graph, found = axis("graph", list(known)), list(known.values())
    alike = [one.alike() if len(one.nodes) <= 4 else (-1, -1) for one in found]
    said = [_said(one) if len(one.nodes) <= 6 else (-1, -1) for one in found]
    near = {
        f"{name}: {node}": one.names_of(one.near(k))
        for name, one in known.items()
        for k, node in enumerate(one.nodes)
    }
    return {
        "directed_alike": graph.of([directed for directed, _ in alike]),
        "undirected_alike": graph.of([other for _, other in alike]),
        "stating": graph.of([own for own, _ in said]),
        "moral_stating": graph.of([moral_ for _, moral_ in said]),
        "link_count": graph.of([len(one.joined) for one in found]),
        "married": graph.of([one.married for one in found]),
        "cliques": graph.of(["; ".join(map(one.names_of, cliques(one.linked))) for one in found]),
        "blanket": axis("node", list(near)).of(list(near.values())),
    }


def _said(one: Named) -> tuple[int, int]:
    """Number of statements about pairs of a graph, and of its moral graph."""
    own = stated(one.graph) if one.directed else stated_undirected(one.graph)
    return len(own), len(stated_undirected(one.linked))


def _conditionals(
    known: Mapping[str, Named], joints: Mapping[str, list[Floats]]
) -> dict[str, Quantity]:
    """Dependence of each node, given all others, on nodes outside its blanket and in it."""
    nodes, beyond, within = list[str](), list[float](), list[float]()
    for name, one in known.items():
        for k, node in enumerate(one.nodes):
            found = [_dependence_on(joint, k, one.near(k)) for joint in joints[name]]
            nodes.append(f"{name}: {node}")
            beyond.append(max(outside for outside, _ in found))
            within.append(min(inside for _, inside in found))
    return {"beyond": axis("node", nodes).of(beyond), "within": axis("node", nodes).of(within)}


def _dependence_on(joint: Floats, node: int, near: Nodes) -> tuple[float, float]:
    """Largest change of p(node | all others) with nodes not near, and smallest with a near one.

    The second value is one if no node is near.
    """
    without = frozenset(range(joint.ndim)) - near - {node}
    each = [float(spread_of_conditional(joint, node, frozenset([one])).max()) for one in near]
    return float(spread_of_conditional(joint, node, without).max()), min(each, default=1.0)


def _random_dag(M: int, rng: Generator) -> Dag:
    names = rng.permutation(M)
    pairs = [pair for pair in combinations(range(M), 2) if rng.random() < 0.5]
    return dag(M, [(int(names[i]), int(names[j])) for i, j in pairs])


def _held(graph: Dag, joint: Floats) -> dict[str, float]:
    """Statements about pairs, found in two ways, and tested on a distribution."""
    own, gaps, disagreed = stated(graph), {}, 0
    for s in statements(len(graph)):
        sets = frozenset([s.a]), frozenset([s.b]), s.given
        gaps[s] = dependence(joint, *sets)
        disagreed += (s in own) != d_separated_by_paths(graph, *sets)
    return {
        "ways_disagree": disagreed,
        "stated_dependence": max((gaps[s] for s in own), default=0.0),
        "unstated_dependence": min((gap for s, gap in gaps.items() if s not in own), default=1.0),
    }


def _blankets(graph: Dag, joint: Floats) -> dict[str, float]:
    """Whether Markov blankets are sufficient, and whether smaller sets are."""
    every = frozenset(range(len(graph)))
    hung, too_large, family = [], 0, 0
    for node in every:
        own = blanket(graph, node)
        hung.append(_dependence_on(joint, node, own))
        for size in range(len(own)):
            for less in combinations(sorted(own), size):
                rest = every - {node} - set(less)
                too_large += d_separated(graph, frozenset([node]), rest, frozenset(less))
        near = graph[node] | children(graph, node)
        family += near != own and not d_separated(
            graph, frozenset([node]), every - near - {node}, near
        )
    return {
        "beyond_blanket": max(outside for outside, _ in hung),
        "within_blanket": min(inside for _, inside in hung),
        "smaller_blankets": too_large,
        "family_not_enough": family,
    }


def _in_cliques(graph: Dag, K: int, rng: Generator) -> dict[str, float]:
    """Tables multiplied into cliques of the moral graph: Z, and the error of their product."""
    tables = directed_tables(graph, K, rng)
    potentials = clique_potentials(moral(graph), tables, K)
    made, right = joint_of(potentials, len(graph)), joint_of(tables, len(graph))
    return {"partition": float(made.sum()), "potential_error": float(np.abs(made - right).max())}


def _homes(graph: Dag) -> dict[str, float]:
    """Families in no clique of the moral graph, and of the graph without arrowheads."""
    families = [frozenset([node]) | parents for node, parents in enumerate(graph)]
    bare = [clique_of(skeleton(graph), family) is None for family in families]
    return {
        "homeless": sum(clique_of(moral(graph), family) is None for family in families),
        "unmarried_homeless": sum(bare),
        "only_parent_homeless": sum(b for b, f in zip(bare, families, strict=True) if len(f) == 2),
    }


def _neighbours(graph: Undirected, K: int, rng: Generator) -> dict[str, float]:
    """An undirected graph with positive tables: pairs given all others, and nodes given theirs."""
    joint, every = undirected_joint(graph, K, rng), frozenset(range(len(graph)))
    gaps = {
        (i, j): dependence(joint, frozenset([i]), frozenset([j]), every - {i, j})
        for i, j in combinations(every, 2)
    }
    linked = set(links(graph))
    hung = [_dependence_on(joint, node, graph[node]) for node in every]
    return {
        "unlinked_dependence": max((g for p, g in gaps.items() if p not in linked), default=0.0),
        "linked_dependence": min((g for p, g in gaps.items() if p in linked), default=1.0),
        "beyond_neighbours": max(outside for outside, _ in hung),
        "within_neighbours": min(inside for _, inside in hung),
    }
