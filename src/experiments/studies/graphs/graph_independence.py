"""Independences stated by graphs, and tests on distributions (PRML 8.2, 8.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.graphs._named import Named, named
from bythebook.models.graphs.independence import dependence, spread_of_conditional
from bythebook.models.graphs.structure import Nodes, cliques, order
from bythebook.models.types import Floats

MAX_COMPARED = 4  # nodes of graphs that are compared with all graphs of as many nodes
THREE = {"fork": "c -> a, c -> b", "chain": "a -> c, c -> b", "collider": "a -> c, b -> c"}


def parsed_statement(text: str) -> tuple[str, list[str], list[str], list[str]]:
    """Split "graph: a, b | c" into a name and three sets; "a d, b" has two nodes in the first."""
    name, _, rest = text.partition(":")
    pair, _, given = rest.partition("|")
    one, _, other = pair.partition(",")
    return name.strip(), one.split(), other.split(), given.replace(",", " ").split()


@dataclass
class GraphIndependence(Study):
    """Independence statements of graphs, tested on random distributions (PRML 8.2).

    Each distribution is a product of random tables on the graph. A graph of up to four nodes is
    also compared with all graphs on as many nodes.
    """

    headline = {"dependence": "max(dependence)"}
    quantities = {
        "separated": quantity("whether the graph states the independence", "statement"),
        "dependence": quantity(
            "largest difference of p(a, b | c) and p(a | c) p(b | c)", "statement draw"
        ),
        "beyond": quantity(
            "largest change of p(node | all others) with nodes outside its blanket", "node"
        ),
        "within": quantity(
            "smallest change of p(node | all others) with a node of its blanket", "node"
        ),
        "blanket": quantity(
            "nodes of the Markov blanket; in an undirected graph, the neighbours", "node"
        ),
        "cliques": quantity("maximal cliques, in a directed graph of the moral graph", "graph"),
        "married": quantity("links that the moral graph adds", "graph"),
        "directed_alike": quantity(
            "number of directed graphs with the same independences", "small_graph"
        ),
        "undirected_alike": quantity(
            "number of undirected graphs with the same independences", "small_graph"
        ),
        "stated_count": quantity(
            "number of independences of two nodes that the graph states", "small_graph"
        ),
        "moral_count": quantity(
            "number of independences of two nodes that the moral graph states", "small_graph"
        ),
    }
    axes = {
        "statement": axis_of("graph and independence"),
        "draw": axis_of("random distribution"),
        "node": axis_of("graph and node"),
        "graph": axis_of("graph"),
        "small_graph": axis_of("graph of up to four nodes"),
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
        joints = {
            n: [g.joint(self.states, rng) for _ in range(self.draws)] for n, g in known.items()
        }
        separated, gaps = [], []
        for text in self.statements:
            name, *parts = parsed_statement(text)
            sets = [known[name].set(part) for part in parts]
            separated.append(known[name].separates(*sets))
            gaps.append([dependence(joint, *sets) for joint in joints[name]])
        nodes = [(name, g, k) for name, g in known.items() for k in range(len(g.nodes))]
        changes = [dependence_on(joints[name], k, g.near(k)) for name, g, k in nodes]
        small = {n: g for n, g in known.items() if len(g.nodes) <= MAX_COMPARED}
        compared = {
            "directed_alike": [g.alike()[0] for g in small.values()],
            "undirected_alike": [g.alike()[1] for g in small.values()],
            "stated_count": [len(g.statements()) for g in small.values()],
            "moral_count": [len(g.moral_statements()) for g in small.values()],
        }
        return outcome(
            {
                "statement": self.statements,
                "draw": self.draws,
                "node": [f"{name}: {g.nodes[k]}" for name, g, k in nodes],
                "graph": list(known),
                **({"small_graph": list(small)} if small else {}),
            },
            separated=("statement", separated),
            dependence=("statement draw", gaps),
            beyond=("node", [beyond for beyond, _ in changes]),
            within=("node", [within for _, within in changes]),
            blanket=("node", [g.names_of(g.near(k)) for _, g, k in nodes]),
            cliques=(
                "graph",
                ["; ".join(map(g.names_of, cliques(g.linked))) for g in known.values()],
            ),
            married=("graph", [g.married for g in known.values()]),
            **({n: ("small_graph", found) for n, found in compared.items()} if small else {}),
        )


def dependence_on(joints: list[Floats], node: int, near: Nodes) -> tuple[float, float]:
    """Largest change of p(node | all others) with nodes not near, and smallest with a near one.

    The second value is one if no node is near.
    """
    without = frozenset(range(joints[0].ndim)) - near - {node}
    beyond = [spread_of_conditional(joint, node, without).max() for joint in joints]
    within = [
        spread_of_conditional(joint, node, frozenset([one])).max()
        for joint in joints
        for one in near
    ]
    return float(max(beyond)), float(min(within, default=1.0))
