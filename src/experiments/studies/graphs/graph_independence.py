"""Which independences a graph states, and whether distributions on it have them (PRML 8.2, 8.3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.graphs._named import Named, named
from models.graphs.independence import dependence, directed_joint, spread_of_conditional
from models.graphs.structure import (
    Dag,
    blanket,
    children,
    cliques,
    d_separated,
    d_separated_by_paths,
    dag,
    order,
    stated,
    statements,
)
from models.types import Floats

THREE = {"fork": "c -> a, c -> b", "chain": "a -> c, c -> b", "collider": "a -> c, b -> c"}


def asked(text: str) -> tuple[str, list[str], list[str], list[str]]:
    """`graph: a, b | c` as the graph's name and three sets; `a d, b` has two nodes in the first."""
    name, _, rest = text.partition(":")
    pair, _, given = rest.partition("|")
    one, _, other = pair.partition(",")
    return name.strip(), one.split(), other.split(), given.replace(",", " ").split()


@dataclass
class GraphIndependence(Study):
    """Statements held to graphs, to all paths in them and to drawn distributions on them.

    For each graph of up to four nodes also how many graphs of either kind state just the same. And
    random directed graphs: whether distributions on them have the independences stated and no
    others, and whether a Markov blanket is enough and no more than that.
    """

    headline = {"dependence": "max(dependence)"}

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
    random_nodes: int = knob(0, "nodes of random directed graphs; 0: none", at_least=0, at_most=6)
    random_graphs: int = knob(20, "how many of them", at_least=1, at_most=1000)

    @property
    def known(self) -> dict[str, Named]:
        return {name: named(text) for name, text in (self.graphs or THREE).items()}

    def problems(self) -> Iterator[str]:
        known = self.known
        for name, found in known.items():
            if not 2 <= len(found.nodes) <= 8 or (found.directed and order(found.graph) is None):
                yield f"study.graphs: '{name}'; allowed: 2 to 8 nodes without a directed cycle"
        for text in self.statements:
            name, one, other, given = asked(text)
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
            name, *parts = asked(text)
            sets = [known[name].set(part) for part in parts]
            stated_.append(known[name].separates(*sets))
            blocked.append(known[name].blocks(*sets))
            gaps.append([dependence(joint, *sets) for joint in joints[name]])
        return Outcome(
            separated=statement.of(stated_),
            blocked=statement.of(blocked),
            dependence=over(gaps, statement, draw),
            **_described(known),
            **(self._theorem(rng) if self.random_nodes else {}),
        )

    def _theorem(self, rng: Generator) -> dict[str, Quantity]:
        """Random directed graphs and one distribution on each."""
        M, number = self.random_nodes, axis("random_graph", self.random_graphs)
        found: dict[str, list[float]] = {}
        for _ in range(self.random_graphs):
            graph = _random_dag(M, rng)
            joint = directed_joint(graph, self.states, rng)
            for name, value in {**_held(graph, joint), **_blankets(graph, joint)}.items():
                found.setdefault(name, []).append(value)
        return {name: number.of(values) for name, values in found.items()}


def _described(known: Mapping[str, Named]) -> dict[str, Quantity]:
    """What there is to tell of each graph, and of each of its nodes."""
    graph, found = axis("graph", list(known)), list(known.values())
    alike = [one.alike() if len(one.nodes) <= 4 else (-1, -1) for one in found]
    near = {
        f"{name}: {node}": one.told(one.near(k))
        for name, one in known.items()
        for k, node in enumerate(one.nodes)
    }
    return {
        "directed_alike": graph.of([directed for directed, _ in alike]),
        "undirected_alike": graph.of([other for _, other in alike]),
        "married": graph.of([one.married for one in found]),
        "cliques": graph.of(["; ".join(map(one.told, cliques(one.linked))) for one in found]),
        "blanket": axis("node", list(near)).of(list(near.values())),
    }


def _random_dag(M: int, rng: Generator) -> Dag:
    names = rng.permutation(M)
    pairs = [pair for pair in combinations(range(M), 2) if rng.random() < 0.5]
    return dag(M, [(int(names[i]), int(names[j])) for i, j in pairs])


def _held(graph: Dag, joint: Floats) -> dict[str, float]:
    """Statements about pairs: the two ways to find them, and what a distribution says."""
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
    """Whether blankets are enough, and whether less would be."""
    every = frozenset(range(len(graph)))
    worst, too_large, family = 0.0, 0, 0
    for node in every:
        own = blanket(graph, node)
        worst = max(worst, spread_of_conditional(joint, node, every - own - {node}))
        for size in range(len(own)):
            for less in combinations(sorted(own), size):
                rest = every - {node} - set(less)
                too_large += d_separated(graph, frozenset([node]), rest, frozenset(less))
        near = graph[node] | children(graph, node)
        family += near != own and not d_separated(
            graph, frozenset([node]), every - near - {node}, near
        )
    return {"beyond_blanket": worst, "smaller_blankets": too_large, "family_not_enough": family}
